/**
 * What a stage of a block says of the effects that arise in it, as they carry it.
 *
 * Boundary: shapes. From a stage to its effects is `state/effects.ts`; what follows from it is the conductor's and the host's.
 */
import { count, one, says, shape, type Told, text, number } from "../shape/build.ts";

/** Where a credential comes from; what it is, only the performer ever knows. */
export const CREDENTIAL = shape({ source: one(["env", "file", "exec", "oauth", "secret"]), arg: text }, {});

/** Effects of one stage begin at most so often. */
const RATE = shape({ stage: says(text, "path"), second: says(number, "a second") }, {});

export const OF_STAGE = {
    credential: says(CREDENTIAL, "of the stage that it arises in: what it may be sent with"),
    as: says(text, "of the stage that it arises in: identity on whose behalf"),
    queue: says(text, "of the stage that it arises in: where workers take it from"),
    priority: says(count, "of the stage that it arises in: 1 comes first"),
    rate: says(RATE, "of the stage that it arises in: how often its effects begin"),
};
const SAID = shape({}, OF_STAGE);
export type OfStage = Told<typeof SAID>;

/** What a stage says of credentials, as a part of an effect (EF3). */
export function sentWith({ credential, as }: Pick<OfStage, "credential" | "as">): Pick<OfStage, "credential" | "as"> {
    return { ...(credential === undefined ? {} : { credential }), ...(as === undefined ? {} : { as }) };
}
