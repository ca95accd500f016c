/**
 * Verbs over data in Remit: `echo`, `merge`, `when`.
 *
 * Boundary: source text. `conditions.ts` holds the patterns, which the checker reads too.
 */
import { COMPARED, PLAIN } from "./conditions.ts";

export const ECHO = `
func echo(text: json = none, input: json = none) {
    text ?? input
}
`;

export const MERGE = `
func merge(input: json) -> string {
    if not is_list(input) {
        return text(input)
    }
    parts = []
    n = 0
    for part in input max 1000000 {
        n += 1
        if part != none {
            parts.add("## Part " + n + "\\n\\n" + text(part))
        }
    }
    parts.join("\\n\\n")
}
`;

export const WHEN = `
func when(condition: string, input: json = none) -> boolean {
    c = condition.trim()
    if c.starts_with("contains ") {
        return when_holds(input, when_unquoted(c.slice(9)))
    }
    if c.starts_with("not_contains ") {
        return not when_holds(input, when_unquoted(c.slice(13)))
    }
    compared = c.match(${JSON.stringify(COMPARED)}, "s")
    if compared != none {
        parts = compared.groups
        return when_compares(when_field(input, parts[0]), parts[1], parts[2])
    }
    plain = c.match(${JSON.stringify(PLAIN)})
    if plain == none {
        raise "the condition '"
            + condition
            + "' cannot be read: write contains X, not_contains X, field > 5 or field"
    }
    isSet = if when_field(input, plain.groups[1]) { true } else { false }
    isSet == (plain.groups[0] == none)
}

func when_holds(value: json, wanted: string) -> boolean {
    if is_text(value) {
        return value.contains(wanted)
    }
    if is_list(value) {
        return value.any((one) => text(one) == wanted)
    }
    raise "'contains' looks into a text or a list; " + when_kind(value) + " came in"
}

func when_field(value: json, path: string) {
    if path == "input" {
        return value
    }
    at = value
    rest = if path.starts_with("input.") { path.slice(6) } else { path }
    for part in rest.split(".") max 100 {
        if part == "length" and (is_text(at) or is_list(at)) {
            at = at.length
        } else {
            if not is_object(at) {
                raise "'" + path + "' is a field of an object; " + when_kind(at) + " came in"
            }
            at = at.get(part)
            if at == none {
                return none
            }
        }
    }
    at
}

func when_compares(value: json, sign: string, written: string) -> boolean {
    if sign == "==" {
        return value == when_literal(written, is_text(value))
    }
    if sign == "!=" {
        return value != when_literal(written, is_text(value))
    }
    if value == none {
        return false
    }
    left = when_number(value)
    right = when_number(when_unquoted(written))
    if sign == ">" {
        return left > right
    }
    if sign == "<" {
        return left < right
    }
    if sign == ">=" {
        return left >= right
    }
    left <= right
}

func when_literal(written: string, asText: boolean) {
    raw = when_unquoted(written)
    if asText or raw != written.trim() {
        return raw
    }
    if raw == "true" {
        return true
    }
    if raw == "false" {
        return false
    }
    if raw == "none" {
        return none
    }
    if raw.match("^-?\\\\d+(?:\\\\.\\\\d+)?$") == none {
        return raw
    }
    number(raw)
}

func when_number(value: json) -> number {
    try {
        return number(value)
    } catch {
        raise "only numbers are compared with < and >; " + when_kind(value) + " is none"
    }
}

func when_unquoted(written: string) -> string {
    one = written.trim()
    quoted = one.match("^(?:\\"(.*)\\"|'(.*)')$", "s")
    if quoted == none {
        return one
    }
    quoted.groups[0] ?? quoted.groups[1]
}

func when_kind(value: json) -> string {
    if value == none {
        return "nothing"
    }
    if is_text(value) {
        return "a text"
    }
    if is_list(value) {
        return "a list"
    }
    if is_object(value) {
        return "an object"
    }
    "the value " + text(value)
}
`;

/** What kind of data a value is. A text alone is unchanged by an empty one behind it. */
export const KINDS = `
func is_text(value: json) -> boolean {
    value + "" == value
}

func is_list(value: json) -> boolean {
    not is_text(value) and json.text(value).starts_with("[")
}

func is_object(value: json) -> boolean {
    not is_text(value) and json.text(value).starts_with("{")
}
`;
