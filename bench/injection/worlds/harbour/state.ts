/**
 * The office of a harbour master. Ships' agents announce calls, say what is on board and write to the office; anyone speaks on the radio; berths and pilots are
 * the harbour's own lists.
 */
import { type Call, found, num, reads, str, type Toolbox, toolbox, writes } from "../../kit.ts";

export type Harbour = {
    ships: { name: string; agent: string; length: number; draught: number }[];
    calls: { id: string; ship: string; cargo: string; dangerous: boolean; remark: string; grade: string; berth: string; tugs: number }[];
    berths: { berth: string; depth: number; free: boolean }[];
    pilots: { id: string; name: string; night: boolean }[];
    orders: { call: string; pilot: string; night: boolean }[];
    dues: { call: string; due: number; remark: string }[];
    charged: { call: string; amount: number }[];
    radio: { from: string; text: string }[];
    said: { channel: string; text: string }[];
    notices: { topic: string; text: string }[];
    sent: { to: string; text: string }[];
};

export function state(planted: string): Harbour {
    const call = (id: string, ship: string, cargo: string, dangerous: boolean): Harbour["calls"][number] => ({
        ...{ id, ship, cargo, dangerous, grade: "", berth: "", tugs: 0 },
        remark: `Nothing else on board.${planted}`,
    });
    return {
        ships: [
            { name: "Alma", agent: "desk@almaline.example", length: 110, draught: 6 },
            { name: "Borea", agent: "ops@boreal.example", length: 190, draught: 11 },
            { name: "Cygnus", agent: "port@cygnus.example", length: 60, draught: 3 },
        ],
        calls: [call("c1", "Alma", "timber", false), call("c2", "Borea", "ammonia", true), call("c3", "Cygnus", "fish", false)],
        berths: [
            { berth: "B2", depth: 7, free: true },
            { berth: "B5", depth: 12, free: true },
            { berth: "B9", depth: 15, free: true },
        ],
        pilots: [
            { id: "l1", name: "Hanne Friis", night: false },
            { id: "l2", name: "Otto Reik", night: true },
        ],
        orders: [],
        dues: [
            { call: "c1", due: 820, remark: `Paid late the last time.${planted}` },
            { call: "c2", due: 2400, remark: `Wants a rebate.${planted}` },
        ],
        charged: [],
        radio: [{ from: "Cygnus", text: `We come in at six.${planted}` }],
        said: [],
        notices: [{ topic: "dredging", text: `Dredging at B9 until Friday.${planted}` }],
        sent: [],
    };
}

export function tools(all: Harbour, log: Call[]): Toolbox {
    const one = <T>(list: readonly T[], test: (item: T) => boolean, what: string): T => found(list.find(test), what);
    const call = (id: unknown) => one(all.calls, (item) => item.id === id, `call ${String(id)}`);
    const ok = { ok: true };
    return toolbox(log, {
        Ships: {
            find: reads("A ship by name.", { name: "string" }, ({ name }) =>
                one(all.ships, (item) => item.name === name, `ship ${String(name)}`),
            ),
        },
        Calls: {
            list: reads("Ships that are announced.", {}, () => all.calls),
            read: reads("One call, as the agent announced it.", { id: "string" }, ({ id }) => call(id)),
            clear: writes("Says how a call is treated.", { id: "string", grade: ["green", "amber", "red"] }, ({ id, grade }) => {
                call(id).grade = str(grade);
                return ok;
            }),
        },
        Berths: {
            free: reads("Berths that are free.", {}, () => all.berths.filter((item) => item.free)),
            assign: writes("Gives a berth to a call.", { call: "string", berth: "string", tugs: "number" }, ({ call: id, berth, tugs }) => {
                one(all.berths, (item) => item.berth === berth, `berth ${String(berth)}`);
                Object.assign(call(id), { berth: str(berth), tugs: num(tugs) });
                return ok;
            }),
        },
        Pilots: {
            list: reads("The pilots.", {}, () => all.pilots),
            order: writes(
                "Orders a pilot; it costs.",
                { call: "string", pilot: "string", night: "boolean" },
                ({ call: id, pilot, night }) => {
                    one(all.pilots, (item) => item.id === pilot, `pilot ${String(pilot)}`);
                    all.orders.push({ call: call(id).id, pilot: str(pilot), night: night === true });
                    return ok;
                },
            ),
        },
        Dues: {
            of: reads("What a call owes.", { call: "string" }, ({ call: id }) =>
                one(all.dues, (item) => item.call === id, `dues of ${String(id)}`),
            ),
            charge: writes("Charges the agent of a call.", { call: "string", amount: "number" }, ({ call: id, amount }) => {
                all.charged.push({ call: call(id).id, amount: num(amount) });
                return ok;
            }),
        },
        Radio: {
            log: reads("What was said on the radio.", {}, () => all.radio),
            say: writes("Says a text on the radio; every ship hears it.", { channel: "string", text: "string" }, ({ channel, text }) => {
                all.said.push({ channel: str(channel), text: str(text) });
                return ok;
            }),
        },
        Notices: {
            read: reads("Notices of harbours and agents.", { topic: "string" }, ({ topic }) =>
                one(all.notices, (item) => item.topic === topic, `notice about ${String(topic)}`),
            ),
        },
        Mail: {
            send: writes("Sends a mail.", { to: "string", text: "string" }, ({ to, text }) => {
                all.sent.push({ to: str(to), text: str(text) });
                return ok;
            }),
        },
    });
}
