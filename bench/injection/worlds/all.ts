/** The worlds, as lists of what can be run without knowing their states. */
import type { World } from "../kit.ts";
import { banking } from "./banking/world.ts";
import { chat } from "./chat/world.ts";
import { clinic } from "./clinic/world.ts";
import { forge } from "./forge/world.ts";
import { harbour } from "./harbour/world.ts";
import { letting } from "./letting/world.ts";
import { newsroom } from "./newsroom/world.ts";
import { procurement } from "./procurement/world.ts";
import { school } from "./school/world.ts";
import { shop } from "./shop/world.ts";
import { travel } from "./travel/world.ts";
import { workspace } from "./workspace/world.ts";

/** A world whose state is its own business: states go only from `state` to `tools` and to the checks of the same world. */
export type AnyWorld = World<unknown>;

function hide<S>(world: World<S>): AnyWorld {
    return world as unknown as AnyWorld;
}

export const WORLDS: readonly AnyWorld[] = [hide(banking), hide(chat), hide(travel), hide(workspace)];

/** Worlds that were made for attackers who have read the policy: they have no goals of their own. */
export const LATER: readonly AnyWorld[] = [
    hide(forge),
    hide(shop),
    hide(clinic),
    hide(procurement),
    hide(letting),
    hide(harbour),
    hide(school),
    hide(newsroom),
];
