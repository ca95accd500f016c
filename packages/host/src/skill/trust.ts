/**
 * Trust in a skill: whether what a project's skill says may reach a model.
 *
 * Boundary: the record is that of `config/trust.ts`; here is said what stands in it for a skill.
 *
 * K8: trust belongs to the real path and the digest of a skill: one that was moved, or in which any file changed, is asked about again.
 * K9: a skill of the user's own folders needs no trust; one that came with a project does, because a skill of a stranger is an instruction of a stranger.
 */
import { distrust, stateOf, type TrustState, trust } from "../config/trust.ts";
import type { Environment } from "../ledger/place.ts";
import { listing } from "./files.ts";
import type { Skill } from "./skill.ts";

/** Is this skill trusted as it is now? Null for one that has no folder. */
export function skillTrust(skill: Skill, env: Environment): TrustState | null {
    return skill.folder === null ? null : stateOf(skill.folder, Buffer.from(listing(skill.files)), env);
}

/** Trusts a skill as it was read. */
export function trustSkill(skill: Skill, env: Environment): TrustState | null {
    const seen = skillTrust(skill, env);
    return seen === null || skill.folder === null ? null : trust(skill.folder, env, seen);
}

/** Forgets a skill; true if it was trusted. */
export function distrustSkill(skill: Skill, env: Environment): boolean {
    return skill.folder !== null && distrust(skill.folder, env);
}
