/** Why a run asks a person, in the words that every face of a program shows. Text only. */
import { isObject, type Json, plainLine } from "@remit/language";
import { flowIn, flowText } from "@remit/machine";

type Fields = { readonly [key: string]: Json };

/** Why the person is asked, and where what is passed comes from. */
export function reasonOf(question: string, detail: Json): string {
    const about: Fields = isObject(detail) ? detail : {};
    const origins = isObject(about["origins"]) ? Object.entries(about["origins"]) : [];
    const flows = [about["flow"], ...(Array.isArray(about["flows"]) ? about["flows"] : [])].map(flowIn).filter((one) => one !== null);
    const from = origins.flatMap(([name, list]) =>
        Array.isArray(list) && list.length > 0
            ? [`- ${plainLine(name)} comes from ${list.map((one) => plainLine(String(one))).join(", ")}`]
            : [],
    );
    const principal = typeof about["principal"] === "string" ? [`Who wants it: ${plainLine(about["principal"])}.`] : [];
    return [
        plainLine(question),
        ...principal,
        ...flows.map((flow) => plainLine(flowText(String(about["capability"] ?? ""), flow, null))),
        ...from,
    ].join("\n");
}
