/**
 * What the command was given: its environment, its folder and its user.
 *
 * Boundary: the command line alone reads them; the host gets them as values.
 */
import { fromThisProcess, knownSecrets, ledgerPath, loadConfig } from "@remit/host";

export const here = fromThisProcess;

/** The ledger that `--ledger`, the environment or the configuration names. Throws `ConfigError`. */
export function ledgerHere(options: Readonly<Record<string, unknown>>): string {
    const { env, cwd } = here();
    const said = (options["ledger"] as string | undefined) || env["REMIT_LEDGER"];
    return ledgerPath(said || (loadConfig({ env, from: cwd, folder: cwd }).ledger ?? undefined), env, cwd);
}

/** What is known to be a secret now. */
export const secretsNow = () => knownSecrets(here().env);
