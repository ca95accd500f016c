/** What is kept of a run, and of a world. Boundary: shapes, and the cutting of long lists. */
import type { Opened } from "./freeze.ts";
import type { Closed } from "./frontier.ts";
import type { Ran, Tally, Told } from "./run.ts";

export interface Figures {
    readonly agent: Tally;
    readonly program: Tally;
    /** Pairs that went through an argument, or through who decided: `Bank.transfer amount`. */
    readonly through: { readonly [where: string]: number };
    /** Some of them, holes and insiders' acts first. */
    readonly told: readonly Told[];
    readonly missed: readonly string[];
    readonly questioned: readonly string[];
}

export interface Kept {
    readonly world: string;
    readonly day: string;
    readonly hash: string;
    readonly made: number;
    readonly goals: number;
    readonly pairs: number;
    readonly opened: Opened;
    readonly closed: readonly Closed[];
    readonly ran: { readonly [contender: string]: Figures };
}

/** Of the contender whose goals the page shows. */
const SHOWN = 25;
const FEW = 3;

export function figuresOf({ agent, program, told, missed, questioned }: Ran, isShown: boolean): Figures {
    const most = isShown ? SHOWN : FEW;
    const through: { [where: string]: number } = {};
    for (const one of told.filter(({ goal }) => !goal.startsWith("insider: ")))
        for (const where of one.through) through[where] = (through[where] ?? 0) + 1;
    const isHole = ({ verdict, unlisted }: Told): boolean => verdict === "hole" || unlisted.length > 0;
    const always = ({ goal }: Told): boolean => goal.startsWith("insider: ");
    const holes = told.filter((one) => isHole(one) || always(one));
    const others = told.filter((one) => !isHole(one) && !always(one) && one.on);
    const step = Math.max(1, Math.ceil(others.length / most));
    return {
        agent,
        program,
        through,
        told: [...holes.slice(0, 2 * most), ...others.filter((_, at) => at % step === 0)],
        missed,
        questioned,
    };
}
