/**
 * What the command was given: its environment, its folder and its user.
 *
 * Boundary: the command line alone reads them; the host gets them as values.
 */
import { fromThisProcess, knownSecrets, ledgerPath } from "@remit/host";

export const here = fromThisProcess;

/** The ledger that `--ledger`, the environment or the project names. */
export function ledgerHere(options: Readonly<Record<string, unknown>>): string {
    const { env, cwd } = here();
    return ledgerPath(options["ledger"] as string | undefined, env, cwd);
}

/** What is known to be a secret now. */
export const secretsNow = () => knownSecrets(here().env);
