/**
 * The forms that a secret is met in: as it is, in JSON text as several languages write it, in a URL or a form, in HTML, in base64 (also within a longer
 * text), in hexadecimal, and as buffers are printed.
 *
 * Boundary: pure. A form's name stands in saved states, so a name keeps its meaning.
 */

/** Shorter values are no secrets that could be told from ordinary text. */
export const MIN_SECRET = 8;

/** Every form of a secret with its name; of forms that are equal the first name counts. */
export function formsOf(value: string): ReadonlyMap<string, string> {
    const bytes = Buffer.from(value, "utf8");
    const json = escaped(value);
    const forms: [name: string, form: string][] = [
        ["plain", value],
        ["json", json],
        // JSON in a text of JSON, as errors quote what they were sent.
        ["json/json", escaped(json)],
        ...jsonForms(json),
        ...urlForms(value),
        ...htmlForms(value),
        ["hex", bytes.toString("hex")],
        ["HEX", bytes.toString("hex").toUpperCase()],
        ...printedForms(bytes),
    ];
    for (let before = 0; before < 3; before++) {
        // Base64 looks at three bytes at a time: what is left of the secret's own digits when neighbours are unknown.
        const whole = Buffer.concat([Buffer.alloc(before), bytes])
            .toString("base64")
            .replace(/=+$/, "");
        const from = before === 0 ? 0 : before + 1;
        const tail = (before + bytes.length) % 3 === 0 ? whole.length : whole.length - 1;
        const middle = whole.slice(from, tail);
        if (middle.length < MIN_SECRET) continue;
        forms.push([`base64+${before}`, middle], [`base64url+${before}`, middle.replaceAll("+", "-").replaceAll("/", "_")]);
    }
    const trimmed = value.trim();
    if (trimmed.length >= MIN_SECRET) forms.push(["trimmed", trimmed]);
    const named = new Map<string, string>();
    for (const [name, form] of forms) if (!named.has(form)) named.set(form, name);
    return named;
}

/** As it stands within the quotes of a JSON text. */
function escaped(value: string): string {
    return JSON.stringify(value).slice(1, -1);
}

/** As others write JSON: Go, Gson, PHP, Python. Each of them escapes more than it has to. */
function jsonForms(json: string): [string, string][] {
    const unicode = (text: string, chars: RegExp): string =>
        text.replace(chars, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
    const ascii = unicode(json, /[\u0080-\uffff]/g);
    return [
        ["json-go", unicode(json, /[<>&\u2028\u2029]/g)],
        ["json-gson", unicode(json, /[<>&='\u2028\u2029]/g)],
        ["json-slash", json.replaceAll("/", "\\/")],
        ["json-ascii", ascii],
        ["json-ascii-slash", ascii.replaceAll("/", "\\/")],
    ];
}

/** How the bytes are printed: by Node and by JSON of a buffer; by what breaks lines of base64, on its own. */
function printedForms(bytes: Buffer): [string, string][] {
    const pairs = bytes.toString("hex").replace(/..(?=.)/g, "$& ");
    const numbers = [...bytes].join(",");
    const broken = (end: string, every: RegExp): string => bytes.toString("base64").replace(every, `$&${end}`);
    return [
        ["hex-spaces", pairs],
        ["bytes", numbers],
        ["bytes-spaces", numbers.replaceAll(",", ", ")],
        ["base64-76", broken("\n", /.{76}(?=.)/g)],
        ["base64-76-crlf", broken("\r\n", /.{76}(?=.)/g)],
        ["base64-64", broken("\n", /.{64}(?=.)/g)],
    ];
}

function htmlForms(value: string): [string, string][] {
    const text = value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
    const quoted = text.replaceAll('"', "&quot;");
    return [
        ["html", text],
        ["html-quot", quoted],
        ["html-39", quoted.replaceAll("'", "&#39;")],
        ["html-x27", quoted.replaceAll("'", "&#x27;")],
        ["html-34", text.replaceAll('"', "&#34;")],
    ];
}

function urlForms(value: string): [string, string][] {
    try {
        const encoded = encodeURIComponent(value);
        // RFC 3986 reserves some characters that the function above leaves; a form (WHATWG URL) encodes `~` too, and leaves `*`.
        const strict = encoded.replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
        const form = new URLSearchParams([["", value]]).toString().slice(1);
        const forms: [string, string][] = [
            ["url", encoded],
            ["url+", encoded.replaceAll("%20", "+")],
            ["url-3986", strict],
            ["form", form],
        ];
        return forms.flatMap(([name, one]): [string, string][] => [
            [name, one],
            [`${name}-low`, one.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())],
        ]);
    } catch (error) {
        if (!(error instanceof URIError)) throw error;
        // A lone surrogate has no URL form, so it cannot be met in one.
        return [];
    }
}
