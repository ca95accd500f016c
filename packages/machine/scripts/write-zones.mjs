/**
 * Writes the table of time zones from a folder of compiled zones (TZif, RFC 9636), such as a system's or a package's `zoneinfo`.
 *
 *     node packages/machine/scripts/write-zones.mjs FOLDER
 *
 * Boundary: from files to `src/builtin/zone-data.ts`. What is read is kept from 1970 on, which is what the database promises to know.
 */
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";

const [folder] = process.argv.slice(2);
if (folder === undefined) {
    console.error("usage: node packages/machine/scripts/write-zones.mjs FOLDER");
    process.exit(2);
}
const release = /^# version (\S+)/.exec(readFileSync(join(folder, "tzdata.zi"), "utf8"))?.[1];
if (release === undefined) throw new Error(`${join(folder, "tzdata.zi")} names no version`);

/** @returns {string[]} */
function files(at) {
    return readdirSync(at).flatMap((name) => {
        const path = join(at, name);
        return statSync(path).isDirectory() ? files(path) : [path];
    });
}

/** The changes of the offset from 1970 on, and the rule that holds after the last one. */
function read(bytes) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const counts = (at) => Array.from({ length: 6 }, (_, i) => view.getUint32(at + 20 + 4 * i));
    const [isutc, isstd, leap, time, type, char] = counts(0);
    const second = 44 + time * 5 + type * 6 + char + leap * 8 + isstd + isutc;
    const [isutc2, isstd2, leap2, times, types, chars] = counts(second);
    const base = second + 44;
    const offsets = Array.from({ length: types }, (_, i) => view.getInt32(base + times * 9 + i * 6));
    const changes = Array.from({ length: times }, (_, i) => ({
        at: Number(view.getBigInt64(base + i * 8)),
        offset: offsets[view.getUint8(base + times * 8 + i)],
    }));
    const footer = base + times * 9 + types * 6 + chars + leap2 * 12 + isstd2 + isutc2;
    const rule = Buffer.from(bytes.subarray(footer)).toString("latin1").trim();
    let first = offsets[0];
    for (const one of changes) if (one.at <= 0) first = one.offset;
    const later = [];
    let before = first;
    for (const one of changes) {
        if (one.at <= 0 || one.offset === before) continue;
        later.push(one);
        before = one.offset;
    }
    return { first, later, rule };
}

const QUARTER = 900;

/**
 * `q first;change,change…;rule`, a change `time since the last one` `offset`, all in base 36 and in quarters of an hour; or in seconds with `s`, where
 * one of them is no whole quarter.
 */
function line({ first, later, rule }) {
    const unit = [first, ...later.flatMap(({ at, offset }) => [at, offset])].every((n) => n % QUARTER === 0) ? QUARTER : 1;
    const put = (n) => (n / unit).toString(36);
    let last = 0;
    const changes = later.map(({ at, offset }) => {
        const text = `${put(at - last)}${offset < 0 ? "-" : "+"}${put(Math.abs(offset))}`;
        last = at;
        return text;
    });
    return `${unit === QUARTER ? "q" : "s"}${put(first)};${changes.join(",")};${plainRule(rule)}`;
}

/**
 * The rule of POSIX in minutes and without its abbreviations: `60`, or `60 120 3.5.0.120 10.5.0.180`: offset, offset in summer, and month, week,
 * weekday and minute of the day at which summer begins and ends.
 */
function plainRule(rule) {
    const found =
        /^(?:<[^>]+>|[A-Za-z]+)([-+]?[\d:]+)(?:(?:<[^>]+>|[A-Za-z]+)([-+]?[\d:]+)?,M(\d+\.\d+\.\d+)(?:\/([-+]?[\d:]+))?,M(\d+\.\d+\.\d+)(?:\/([-+]?[\d:]+))?)?$/.exec(
            rule,
        );
    if (found === null) throw new Error(`a rule that this script does not know: ${rule}`);
    const [, std, dst, from, fromTime = "2", to, toTime = "2"] = found;
    const standard = -minutes(std);
    if (from === undefined) return String(standard);
    const summer = dst === undefined ? standard + 60 : -minutes(dst);
    return `${standard} ${summer} ${from}.${minutes(fromTime)} ${to}.${minutes(toTime)}`;
}

function minutes(text) {
    const [h, m = "0"] = text.replace(/^[-+]/, "").split(":");
    return (text.startsWith("-") ? -1 : 1) * (Number(h) * 60 + Number(m));
}

const groups = new Map();
for (const path of files(folder).sort()) {
    const name = relative(folder, path);
    const bytes = readFileSync(path);
    if (bytes.subarray(0, 4).toString("latin1") !== "TZif" || /^(posix|right)\/|^(Factory|localtime|posixrules)$/.test(name)) continue;
    const text = line(read(bytes));
    groups.set(text, [...(groups.get(text) ?? []), name]);
}
const rows = [...groups].map(([text, names]) => `${names.join(" ")}|${text}`).sort();
const target = new URL("../src/builtin/zone-data.ts", import.meta.url);
writeFileSync(
    target,
    `/**
 * Time zones of the IANA database from 1970 on. Written by \`scripts/write-zones.mjs\`: change nothing by hand.
 * A line is a zone: its names, then what the script says of \`line\` and \`plainRule\`.
 */

/** Release of the database. */
export const RELEASE = ${JSON.stringify(release)};

export const ZONE_DATA = \`
${rows.join("\n")}
\`;
`,
);
console.log(`${rows.length} zones of ${release}, ${rows.reduce((n, row) => n + row.length + 1, 0)} characters`);
