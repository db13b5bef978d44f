#include "textflag.h"

// The state of lane A is X1 and X2, its next sixteen words are X3 to X6; lane B has X7, X8 and X9 to X12 for the same.
// Of a state the first register holds a, b, e and f, the second c, d, g and h, each from its highest word down: the
// order SHA256RNDS2 wants. X0 holds the words of four rounds with their constants added, X13 comes and goes, X14 turns
// words from big-endian.

// Four rounds of one lane, whose words are m, with the constants at CX.
#define ROUNDS(offset, m, abef, cdgh) \
	MOVOU       offset(CX), X0; \
	PADDD       m, X0; \
	SHA256RNDS2 X0, abef, cdgh; \
	PSHUFD      $0x0e, X0, X0; \
	SHA256RNDS2 X0, cdgh, abef

// The next four words of the schedule take the place of the first of the last sixteen.
#define EXTEND(m0, m1, m2, m3) \
	SHA256MSG1 m1, m0; \
	MOVO       m3, X13; \
	PALIGNR    $4, m2, X13; \
	PADDD      X13, m0; \
	SHA256MSG2 m3, m0

#define LOAD(offset, a, b) \
	MOVOU  offset(SI), a; \
	PSHUFB X14, a; \
	MOVOU  offset(DX), b; \
	PSHUFB X14, b

#define BOTH(offset, a, b) \
	ROUNDS(offset, a, X1, X2); \
	ROUNDS(offset, b, X7, X8)

#define SIXTEEN(offset) \
	EXTEND(X3, X4, X5, X6); \
	EXTEND(X9, X10, X11, X12); \
	BOTH(offset, X3, X9); \
	EXTEND(X4, X5, X6, X3); \
	EXTEND(X10, X11, X12, X9); \
	BOTH(offset+16, X4, X10); \
	EXTEND(X5, X6, X3, X4); \
	EXTEND(X11, X12, X9, X10); \
	BOTH(offset+32, X5, X11); \
	EXTEND(X6, X3, X4, X5); \
	EXTEND(X12, X9, X10, X11); \
	BOTH(offset+48, X6, X12)

// func blocksNI(a, b *state, fromA, fromB *byte, n int)
TEXT ·blocksNI(SB), NOSPLIT, $0-40
	MOVQ  a+0(FP), AX
	MOVQ  b+8(FP), BX
	MOVQ  fromA+16(FP), SI
	MOVQ  fromB+24(FP), DX
	MOVQ  n+32(FP), DI
	LEAQ  ·constants(SB), CX
	MOVOU ·bigEndian(SB), X14
	MOVOU (AX), X1
	MOVOU 16(AX), X2
	MOVOU (BX), X7
	MOVOU 16(BX), X8

block:
	LOAD(0, X3, X9)
	LOAD(16, X4, X10)
	LOAD(32, X5, X11)
	LOAD(48, X6, X12)
	BOTH(0, X3, X9)
	BOTH(16, X4, X10)
	BOTH(32, X5, X11)
	BOTH(48, X6, X12)
	SIXTEEN(64)
	SIXTEEN(128)
	SIXTEEN(192)

	// The states so far are still in memory.
	MOVOU (AX), X13
	PADDD X13, X1
	MOVOU X1, (AX)
	MOVOU 16(AX), X13
	PADDD X13, X2
	MOVOU X2, 16(AX)
	MOVOU (BX), X13
	PADDD X13, X7
	MOVOU X7, (BX)
	MOVOU 16(BX), X13
	PADDD X13, X8
	MOVOU X8, 16(BX)

	ADDQ $64, SI
	ADDQ $64, DX
	DECQ DI
	JNZ  block
	RET

// func cpuid(leaf, sub uint32) (eax, ebx, ecx uint32)
TEXT ·cpuid(SB), NOSPLIT, $0-20
	MOVL leaf+0(FP), AX
	MOVL sub+4(FP), CX
	CPUID
	MOVL AX, eax+8(FP)
	MOVL BX, ebx+12(FP)
	MOVL CX, ecx+16(FP)
	RET
