/** Puts so many tokens for one identity: FOLDER IDENTITY COUNT. */
import { tokensAt } from "../../src/token/store.ts";

const [folder = "", as = "", count = "0"] = process.argv.slice(2);
const store = tokensAt({ folder, keychain: null });
for (let i = 0; i < Number(count); i++) await store.put({ provider: `p${i}`, as }, { access: `token-${i}-of-${as}` });
