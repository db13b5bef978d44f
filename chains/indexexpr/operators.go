package indexexpr

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
)

// callable is a function as the expression library calls it.
type callable struct {
	call  func(args ...any) (any, error)
	check func(args []reflect.Type) (reflect.Type, error)
}

// functions are all functions, for users and for operators, on a meter. Users cannot write the
// names of the latter.
func (m *meter) functions() map[string]callable {
	all := map[string]callable{}
	for name, f := range functions {
		all[name] = callable{
			call: func(args ...any) (any, error) {
				m.spend(stepCost)
				result := f.run(m, args)
				if result == nil && m.notes != nil {
					m.notes.none(name, f, args)
				}
				return result, nil
			},
			check: f.check,
		}
	}
	operator := func(name string, gives reflect.Type, takes [2]class, run func(a, b any) any) {
		all["#"+name] = callable{
			call: func(args ...any) (any, error) { return run(args[0], args[1]), nil },
			check: func(args []reflect.Type) (reflect.Type, error) {
				left, right := classOf(args[0])&takes[0], classOf(args[1])&takes[1]
				if (args[0] == nil || args[1] == nil) && takes[1] == any_ {
					return gives, nil // anything may be compared with nil
				}
				if left == 0 || right == 0 || takes[0] == any_ && takes[1] == any_ && !comparable_(left, right) {
					return anyType, errors.New("invalid operation: " + name + " (mismatched types " + typeText(args[0]) + " and " + typeText(args[1]) + ")")
				}
				return gives, nil
			},
		}
	}
	both := [2]class{any_, any_}
	operator("==", boolType, both, func(a, b any) any { return equal(m, a, b) })
	operator("!=", boolType, both, func(a, b any) any { return !equal(m, a, b) })
	ordered := [2]class{data, data}
	operator("<", boolType, ordered, func(a, b any) any { n, ok := compare(m, a, b); return ok && n < 0 })
	operator("<=", boolType, ordered, func(a, b any) any { n, ok := compare(m, a, b); return ok && n <= 0 })
	operator(">", boolType, ordered, func(a, b any) any { n, ok := compare(m, a, b); return ok && n > 0 })
	operator(">=", boolType, ordered, func(a, b any) any { n, ok := compare(m, a, b); return ok && n >= 0 })
	operator("contains", boolType, ordered, parts(m, strings.Contains))
	operator("startsWith", boolType, ordered, parts(m, strings.HasPrefix))
	operator("endsWith", boolType, ordered, parts(m, strings.HasSuffix))
	operator("in", boolType, [2]class{any_, isList | isMap}, func(a, b any) any { return in(m, a, b) })
	other := func(name string, run func(a []any) any, check func(args []reflect.Type) (reflect.Type, error)) {
		all["#"+name] = callable{func(args ...any) (any, error) { return run(args), nil }, check}
	}
	other("true", func(a []any) any { return a[0] == true }, only(boolType, isBool))
	other("matches", func(a []any) any { return matches(m, a[0], a[1].(*regexp.Regexp)) }, only(boolType, data))
	other("+", func(a []any) any { return plus(m, a[0], a[1]) }, func(args []reflect.Type) (reflect.Type, error) {
		left, right := classOf(args[0]), classOf(args[1])
		if left&(data|isInt) == 0 || right&(data|isInt) == 0 || !comparable_(left, right) {
			return anyType, errors.New("invalid operation: + (mismatched types " + typeText(args[0]) + " and " + typeText(args[1]) + ")")
		}
		switch {
		case left == isBytes || right == isBytes:
			return bytesType, nil
		case left == isText && right == isText:
			return textType, nil
		}
		return anyType, nil
	})
	other("??", func(a []any) any {
		if isNothing(a[0]) {
			return a[1]
		}
		return a[0]
	}, func(args []reflect.Type) (reflect.Type, error) {
		if args[0] != args[1] {
			return anyType, nil
		}
		return args[0], nil
	})
	other("slice", func(a []any) any { return slice(m, a[0], a[1], a[2]) }, func(args []reflect.Type) (reflect.Type, error) {
		switch c := classOf(args[0]); {
		case c&(data|isList) == 0:
			return anyType, errors.New("cannot slice " + typeText(args[0]))
		case classOf(args[1])&isInt == 0 || classOf(args[2])&isInt == 0:
			return anyType, errors.New("slice bounds must be numbers")
		}
		return known(args[0]), nil
	})
	other("step", func(a []any) any {
		m.spend(stepCost)
		return a[0]
	}, func(args []reflect.Type) (reflect.Type, error) { return known(args[0]), nil })
	return all
}

// known returns a type, or any for that of nil.
func known(t reflect.Type) reflect.Type {
	if t == nil {
		return anyType
	}
	return t
}

// only checks that the first argument of a function is of a class.
func only(gives reflect.Type, takes class) func([]reflect.Type) (reflect.Type, error) {
	return func(args []reflect.Type) (reflect.Type, error) {
		if classOf(args[0])&takes == 0 {
			return anyType, fmt.Errorf("expected %v, got %s", takes, typeText(args[0]))
		}
		return gives, nil
	}
}

// comparable_ reports whether values of the classes can be equal: bytes and text can.
func comparable_(a, b class) bool {
	if a&data != 0 {
		a |= data
	}
	return a&b != 0
}

func typeText(t reflect.Type) string {
	if t == nil {
		return "nil"
	}
	return t.String()
}

// isNothing reports whether a value counts as missing: nil, or empty bytes, text or lists.
func isNothing(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case []byte:
		return len(v) == 0
	case string:
		return v == ""
	}
	r := reflect.ValueOf(v)
	return (r.Kind() == reflect.Slice || r.Kind() == reflect.Map) && r.Len() == 0 || r.Kind() == reflect.Pointer && r.IsNil()
}

// equal compares values. Bytes equal the same text; nil equals missing values.
func equal(m *meter, a, b any) bool {
	if a == nil || b == nil {
		return isNothing(a) && isNothing(b)
	}
	switch x := a.(type) {
	case string:
		switch y := b.(type) {
		case string:
			m.spend(min(len(x), len(y)))
			return x == y
		case []byte:
			m.spend(min(len(x), len(y)))
			return x == string(y)
		}
		return false
	case []byte:
		switch y := b.(type) {
		case string:
			m.spend(min(len(x), len(y)))
			return string(x) == y
		case []byte:
			m.spend(min(len(x), len(y)))
			return string(x) == string(y)
		}
		return false
	case bool:
		return a == b
	}
	n, ok := compareNumbers(a, b)
	return ok && n == 0
}

// compareNumbers compares numbers of any width. Only bytes are unsigned.
func compareNumbers(a, b any) (int, bool) {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	switch {
	case x.CanInt() && y.CanInt():
		return cmp.Compare(x.Int(), y.Int()), true
	case !isNumberValue(x) || !isNumberValue(y):
		return 0, false
	case x.CanFloat() || y.CanFloat():
		float := reflect.TypeFor[float64]()
		return cmp.Compare(x.Convert(float).Float(), y.Convert(float).Float()), true
	}
	return cmp.Compare(x.Convert(intType).Int(), y.Convert(intType).Int()), true
}

func isNumberValue(v reflect.Value) bool { return v.CanInt() || v.CanUint() || v.CanFloat() }

// compare orders bytes and texts by their bytes.
func compare(m *meter, a, b any) (int, bool) {
	x, ok := stringly(m, a)
	y, alsoOK := stringly(m, b)
	return strings.Compare(x, y), ok && alsoOK
}

func parts(m *meter, holds func(s, part string) bool) func(a, b any) any {
	return func(a, b any) any {
		s, ok := stringly(m, a)
		part, isPart := stringly(m, b)
		return ok && isPart && holds(s, part)
	}
}

func in(m *meter, v, where any) bool {
	if r := reflect.ValueOf(where); r.Kind() == reflect.Map {
		key := reflect.ValueOf(v)
		return key.IsValid() && key.Type() == r.Type().Key() && r.MapIndex(key).IsValid()
	}
	for entry := range entries(m, where) {
		if equal(m, v, entry) {
			return true
		}
	}
	return false
}

// plus joins bytes and texts, and adds numbers whose type is known only at run time.
func plus(m *meter, a, b any) any {
	x, ok := stringly(m, a)
	y, alsoOK := stringly(m, b)
	if ok && alsoOK {
		if _, isBytes := b.([]byte); isBytes {
			return []byte(x + y)
		}
		return like(a, x+y)
	}
	p, ok := a.(int)
	q, alsoOK := b.(int)
	if ok && alsoOK {
		return p + q
	}
	return nil
}

// slice returns a part of bytes, a text (by bytes) or a list. Negative bounds count from the end; bounds are clamped.
func slice(m *meter, v, from, to any) any {
	r := reflect.ValueOf(v)
	if r.Kind() != reflect.Slice && r.Kind() != reflect.String {
		return nil
	}
	bound := func(b any, none int) int {
		n, ok := b.(int)
		if !ok {
			return none
		}
		if n < 0 {
			n += r.Len()
		}
		return min(max(n, 0), r.Len())
	}
	end := bound(to, r.Len())
	return r.Slice(min(bound(from, 0), end), end).Interface()
}
