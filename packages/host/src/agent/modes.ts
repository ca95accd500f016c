/**
 * The mode, the options and the model of a session, as far as its configuration or the program wishes them.
 *
 * Boundary: from what an agent offers to what is set. C4: a mode that asks for nothing is chosen only in a sandbox.
 */
import type { AgentTurn } from "@remit/machine";
import { type Connection, listOf } from "./connection.ts";
import { AgentFail } from "./fail.ts";
import { type Given, objectOf } from "./given.ts";

export interface Wishes {
    readonly mode: string | undefined;
    /** Taken where no mode is wished and the agent has it. */
    readonly modeIfThere?: string | undefined;
    readonly options: { readonly [id: string]: string | boolean };
}

/** Modes in which an agent asks no person. */
const ASKS_NOBODY = /bypass|yolo|full.?access|dangerous|never.?ask|auto.?(approve|edit|accept)|accept.?(all|edits)|don.?t.?ask/i;

/** `said`: what the agent answered to the opening of the session. */
export async function choose(at: Connection, wishes: Wishes, said: Given, { model: wanted }: AgentTurn): Promise<void> {
    const { sessionId } = said;
    const modes = objectOf(said.modes);
    const known = listOf(modes.availableModes);
    let config = listOf(said.configOptions);
    const set = async (configId: string, value: string | boolean): Promise<void> => {
        const given = { sessionId, configId, value, ...(typeof value === "boolean" ? { type: "boolean" } : {}) };
        const after = await at.ask("session/set_config_option", `the option ${configId}`, given);
        if (Array.isArray(after.configOptions)) config = listOf(after.configOptions);
    };
    const confined = at.carrier.confinement === "sandbox";
    const askless = (mode: unknown): boolean => {
        const row = known.find((one) => one.id === mode);
        return !confined && ASKS_NOBODY.test(`${String(mode)} ${String(row?.name ?? "")}`);
    };
    const mode = wishes.mode ?? known.find(({ id }) => id === wishes.modeIfThere)?.id?.toString();
    if (mode !== undefined) {
        if (askless(mode))
            throw denied(`in the mode '${mode}' it asks for nothing, which takes a sandbox`, "choose another mode in agents.NAME.mode");
        const asOption = config.find((one) => one.category === "mode");
        if (typeof asOption?.id === "string") await set(asOption.id, mode);
        else if (known.some((one) => one.id === mode)) await at.ask("session/set_mode", `the mode ${mode}`, { sessionId, modeId: mode });
        else {
            const hint = `it has ${known.map((one) => String(one.id)).join(", ") || "none"}`;
            throw new AgentFail("unreachable", `it has no mode '${mode}'`, { hint });
        }
    } else if (askless(modes.currentModeId)) {
        const message = `it begins in the mode '${at.shown(modes.currentModeId)}', in which it asks for nothing: that takes a sandbox`;
        throw denied(message, "choose a mode in agents.NAME.mode of remit.json");
    }
    for (const [option, value] of Object.entries(wishes.options)) {
        if (!confined && ASKS_NOBODY.test(`${option} ${String(value)}`))
            throw denied(`its option '${option}' would be '${String(value)}', with which it asks for nothing: that takes a sandbox`);
        await set(option, value);
    }
    const model = config.find((one) => one.category === "model");
    if (wanted !== undefined && typeof model?.id === "string" && offers(model, wanted)) await set(model.id, wanted);
    const now = config.find((one) => one.category === "model")?.currentValue ?? objectOf(said.models).currentModelId;
    if (typeof now === "string" && at.agent !== undefined) at.agent = { ...at.agent, model: now };
}

function denied(message: string, hint?: string): AgentFail {
    return new AgentFail("denied", message, { hint });
}

function offers(option: Given, value: string): boolean {
    return listOf(option.options).some((one) => one.value === value || listOf(one.options).some((inner) => inner.value === value));
}
