// `npm run demo`: sets up what is missing, then lets an agent program work on real files with the small local model, and shows what the
// model saw. REMIT_MODEL (or a model URI as the first argument) puts another model in its place.
import { cpSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as setup from "./lib/setup.mjs";
import { attached } from "./lib/shell.mjs";

const wanted = process.argv[2] ?? process.env.REMIT_MODEL;
const say = (text = "") => process.stdout.write(`${text}\n`);

async function main() {
    const node = await setup.node();
    await setup.packages(node);
    const missing = wanted === undefined ? await setup.localModel(node) : null;

    // the program writes a file: it works on a copy, so that the checkout stays as it is
    const room = mkdtempSync(join(setup.root, ".tools-demo-"));
    process.on("exit", () => setup.remove(room));
    cpSync(join(setup.root, "examples", "support-desk"), room, { recursive: true });
    const ledger = join(mkdtempSync(join(tmpdir(), "remit-demo-")), "ledger.db");
    const work = join(room, "data");

    const model = wanted ?? (missing === null ? "local:" : `scripted:${join(room, "replies.json")}`);
    const env = { ...setup.environment(node), REMIT_LEDGER: ledger, REMIT_MODEL: model };
    const remit = (...args) => attached(node, [join(setup.root, "packages", "cli", "bin", "remit.mjs"), ...args], { cwd: work, env });

    say();
    say("Six customers have written (examples/support-desk/data/inbox). The program finds out which order each message is about, asks the");
    say("shop's MCP server about the orders and drafts the answers. Read it: examples/support-desk/main.remit");
    say();
    if (missing !== null)
        say(`The local model cannot be had here (${missing}), so a SCRIPTED model answers: its replies come from a file.`);
    else if (wanted === undefined)
        say("Model: SmolLM2-135M, running in this process. It is very small, and its decoding is bound to the contract.");
    else say(`Model: ${wanted}`);
    say(
        "An answer whose number does not stand in its message is refused by the program's own code, which then asks again and shows the model",
    );
    say("less; `refused` of the result lists each. An answer that breaks its contract or is cut off is asked for again by the runtime");
    say("(attempts: 2); the trace shows such a one as a second attempt.");
    say(
        "A better one takes one line: REMIT_MODEL=anthropic://claude-sonnet-4-5 (with ANTHROPIC_API_KEY), openai://…, google://…, ollama://…",
    );
    say();
    say('$ remit run main.remit --input \'{"inbox": "inbox"}\' --trust');
    const code = await remit("run", join(room, "main.remit"), "--input", '{"inbox": "inbox"}', "--workspace", work, "--trust");
    if (code !== 0) return code;

    say();
    say("What it wrote (drafts.md):");
    say();
    for (const line of readFileSync(join(work, "drafts.md"), "utf8").trimEnd().split("\n")) say(`    ${line}`);
    say();
    say("What the model saw for the last message, byte for byte, and why each part was there:");
    say();
    say("$ remit explain last --full --at 'parallel[5]/order_of#0/for[0]'");
    await remit("explain", "last", "--full", "--at", "parallel[5]/order_of#0/for[0]");
    say();
    say("What the run did:");
    say();
    say("$ remit trace last");
    await remit("trace", "last");
    say();
    say("And that the record is whole:");
    say();
    say("$ remit trace verify last && remit replay last");
    await remit("trace", "verify", "last");
    await remit("replay", "last");
    say();
    say(
        "And control handed over: a build fails, and an agent outside the program repairs it (examples/fix-build). It is passed the log and a",
    );
    say(
        "folder, and answers with a function, which runs here as that agent; the write is asked about, and --yes answers. The agent and the model of this",
    );
    say("step are stand-ins that answer from files: for a real agent one line says acp://opencode.");
    say();
    const build = join(room, "fix-build");
    cpSync(join(setup.root, "examples", "fix-build"), build, { recursive: true });
    const scripted = ["--model", `scripted:${join(build, "replies.json")}`];
    say("$ remit run main.remit --input @input.json --yes");
    const input = `@${join(build, "input.json")}`;
    const fixed = await remit("run", join(build, "main.remit"), "--input", input, "--workspace", join(build, "data"), ...scripted, "--yes");
    if (fixed !== 0) return fixed;
    say();
    say("$ remit trace last");
    await remit("trace", "last");
    say();
    say("Next: the README's five minutes, docs/tour.md, and the other programs in examples/.");
    return 0;
}

try {
    process.exitCode = await main();
} catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
}
