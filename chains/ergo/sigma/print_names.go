package sigma

const (
	codePlaceholder = 0x73
	codeBlock       = 0xd8
	codeFunction    = 0xd9
	codeApply       = 0xda
)

// forms are the texts of operations by their code, with § in the place of each operand but options, which follow the
// operand before them after a comma. After a list stands what separates its values, between ¦.
var forms = [256]string{
	0x71: "var_§[§]", 0x72: "$§", 0x74: "substConstants(§, §, §)",
	0x7a: "longToByteArray(§)", 0x7b: "byteArrayToBigInt(§)", 0x7c: "byteArrayToLong(§)", 0x7d: "§.to§", 0x7e: "§.to§",
	codeTrueLeaf: "true", codeFalseLeaf: "false", codeGenerator: "groupGenerator",
	0x8c: "§._§", 0x8f: "(§ < §)", 0x90: "(§ <= §)", 0x91: "(§ > §)", 0x92: "(§ >= §)", 0x93: "(§ == §)", 0x94: "(§ != §)",
	0x95: "if (§) § else §", codeAnd: "allOf(§)", codeOr: "anyOf(§)", codeAtLeast: "atLeast(§, §)",
	0x99: "(§ - §)", 0x9a: "(§ + §)", 0x9b: "xor(§, §)", 0x9c: "(§ * §)", 0x9d: "(§ / §)", 0x9e: "(§ % §)",
	0x9f: "§.exp(§)", 0xa0: "§.multiply(§)", 0xa1: "min(§, §)", 0xa2: "max(§, §)",
	0xa3: "HEIGHT", 0xa4: "INPUTS", 0xa5: "OUTPUTS", 0xa6: "LastBlockUtxoRootHash", 0xa7: "SELF", 0xac: "minerPubKey",
	0xad: "§.map(§)", 0xae: "§.exists(§)", 0xaf: "§.forall(§)", 0xb0: "§.fold(§, §)", 0xb1: "§.size", 0xb2: "§(§)",
	0xb3: "§.append(§)", 0xb4: "§.slice(§, §)", 0xb5: "§.filter(§)", 0xb6: "avlTree(§, §, §, §)", 0xb7: "treeLookup(§, §, §)",
	0xc1: "§.value", 0xc2: "§.propositionBytes", 0xc3: "§.bytes", 0xc4: "§.bytesWithoutRef", 0xc5: "§.id",
	0xc6: "§.R§[§]", 0xc7: "§.creationInfo", 0xcb: "blake2b256(§)", 0xcc: "sha256(§)",
	codeProveDlog: "proveDlog(§)", codeProveDHT: "proveDHTuple(§, §, §, §)", 0xcf: "isProven(§)", 0xd0: "§.propBytes", 0xd1: "sigmaProp(§)",
	0xd4: "executeFromVar[§](§)", 0xd5: "executeFromSelfReg(§)[§]",
	0xd6: "val $§ = §", 0xd7: "def $§§ = §", 0xdd: "Global",
	0xe3: "getVar(§)[§]", 0xe4: "§.get", 0xe5: "§.getOrElse(§)", 0xe6: "§.isDefined",
	0xe7: "modQ(§)", 0xe8: "plusModQ(§, §)", 0xe9: "minusModQ(§, §)",
	0xea: "(§¦ && ¦)", 0xeb: "(§¦ || ¦)", 0xec: "(§ || §)", 0xed: "(§ && §)",
	0xee: "decodePoint(§)", 0xef: "!§", 0xf0: "-§", 0xf1: "~§", 0xf2: "(§ | §)", 0xf3: "(§ & §)", 0xf4: "(§ ^ §)",
	0xf5: "(§ ^ §)", 0xf6: "(§ >> §)", 0xf7: "(§ << §)", 0xf8: "(§ >>> §)", 0xfe: "CONTEXT", 0xff: "xorOf(§)",
}

// Types of methods that are not types of constants.
const (
	typeColl   = embeddable * makesColl
	typeOption = embeddable * makesOption
)

// methods are the names of methods by the code of their type and their number.
var methods = func() map[[2]byte]string {
	all := map[[2]byte]string{
		{typeGlobal, 1}: "groupGenerator", {typeGlobal, 2}: "xor", {typeGlobal, 3}: "serialize", {typeGlobal, 4}: "deserializeTo",
		{typeGlobal, 5}: "fromBigEndianBytes", {typeGlobal, 6}: "encodeNbits", {typeGlobal, 7}: "decodeNbits", {typeGlobal, 8}: "powHit",
		{typeGlobal, 9}: "some", {typeGlobal, 10}: "none",
		{typeBox, 1}: "value", {typeBox, 2}: "propositionBytes", {typeBox, 3}: "bytes", {typeBox, 4}: "bytesWithoutRef", {typeBox, 5}: "id",
		{typeBox, 6}: "creationInfo", {typeBox, 7}: "getReg", {typeBox, 8}: "tokens", {typeBox, 19}: "getReg",
		{typeColl, 1}: "size", {typeColl, 2}: "getOrElse", {typeColl, 3}: "map", {typeColl, 4}: "exists", {typeColl, 5}: "fold",
		{typeColl, 6}: "forall", {typeColl, 7}: "slice", {typeColl, 8}: "filter", {typeColl, 9}: "append", {typeColl, 10}: "apply",
		{typeColl, 14}: "indices", {typeColl, 15}: "flatMap", {typeColl, 19}: "patch", {typeColl, 20}: "updated", {typeColl, 21}: "updateMany",
		{typeColl, 26}: "indexOf", {typeColl, 29}: "zip", {typeColl, 30}: "reverse", {typeColl, 31}: "startsWith", {typeColl, 32}: "endsWith",
		{typeColl, 33}:  "get",
		{typeOption, 2}: "isDefined", {typeOption, 3}: "get", {typeOption, 4}: "getOrElse", {typeOption, 7}: "map", {typeOption, 8}: "filter",
		{typePoint, 2}: "getEncoded", {typePoint, 3}: "exp", {typePoint, 4}: "multiply", {typePoint, 5}: "negate", {typePoint, 6}: "expUnsigned",
		{typeSigmaProp, 1}: "propBytes", {typeSigmaProp, 2}: "isProven",
	}
	lists := map[byte][]string{ // of the methods 1, 2, 3 …
		typeContext: {"dataInputs", "headers", "preHeader", "INPUTS", "OUTPUTS", "HEIGHT", "SELF", "selfBoxIndex", "LastBlockUtxoRootHash",
			"minerPubKey", "getVar", "getVarFromInput"},
		typeAvlTree: {"digest", "enabledOperations", "keyLength", "valueLengthOpt", "isInsertAllowed", "isUpdateAllowed", "isRemoveAllowed",
			"updateOperations", "contains", "get", "getMany", "insert", "update", "remove", "updateDigest", "insertOrUpdate"},
		typeHeader: {"id", "version", "parentId", "ADProofsRoot", "stateRoot", "transactionsRoot", "timestamp", "nBits", "height",
			"extensionRoot", "minerPk", "powOnetimePk", "powNonce", "powDistance", "votes", "checkPow"},
		typePreHeader: {"version", "parentId", "timestamp", "nBits", "height", "minerPk", "votes"},
	}
	numbers := []string{"toByte", "toShort", "toInt", "toLong", "toBigInt", "toBytes", "toBits", "bitwiseInverse", "bitwiseOr", "bitwiseAnd",
		"bitwiseXor", "shiftLeft", "shiftRight"}
	for _, t := range []byte{typeByte, typeShort, typeInt, typeLong, typeBigInt, typeUnsigned} {
		lists[t] = numbers
	}
	for t, names := range lists {
		for i, name := range names {
			all[[2]byte{t, byte(i + 1)}] = name
		}
	}
	return all
}()
