/** Programs that a test suite might have: one is clean, one lets a stranger say where mail goes; a refusal is caught by somebody else than whom it is for. */
import type { Json } from "@remit/language";
import { load, type RemitProgram } from "@remit/host";

const TOOLS = {
    Inbox: { read: { readOnly: true, call: async () => ({ from: "eve@evil.com" }) } },
    Mail: { send: { call: async () => ({ ok: true }) } },
};
const text = (to: string, clause = ""): string => `import tool Inbox from "host:inbox"
import tool Mail from "host:mail"${clause}
agent Sender {
    remit { may Mail }
    func send(to) { Mail.send({ to: to }).ok }
}
main agent A {
    main func(input) {
        Inbox.read({})
        to = ${to}
        sent = (try { Sender.send(to) } catch e { false })
        sent
    }
}
`;
const made = (source: string): Promise<RemitProgram<Json, Json>> => load({ source }, { tools: TOOLS, cache: false });

export const clean = (): Promise<RemitProgram<Json, Json>> => made(text("input.to"));
export const tainted = (): Promise<RemitProgram<Json, Json>> => made(text("Inbox.read({}).from"));
export const refused = (): Promise<RemitProgram<Json, Json>> =>
    made(text(`input.to\n        if (input.evil) { to = Inbox.read({}).from }`, " { arg to: trusted }"));
