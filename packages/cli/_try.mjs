import { load } from "@remit/host";
const [file, input, data, model] = process.argv.slice(2);
try {
const p = await load(file, { cache: false, workspace: data, model });
for (const d of p.diagnostics) console.log(d.severity, d.code, d.file, d.range.start, d.message);
const h = p.run(JSON.parse(input));
const r = await h.result; console.log(JSON.stringify(r, null, 1));
} catch (e) { console.log(e.diagnostics ?? e); }
