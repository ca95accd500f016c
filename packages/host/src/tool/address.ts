/**
 * Which network addresses a program may reach.
 *
 * Boundary: addresses and names, no sockets. Sources: IANA IPv4 and IPv6 Special-Purpose Address Registries.
 */
import { BlockList, isIP } from "node:net";

/** `never`: link-local, metadata services, multicast, reserved. `private`: loopback and networks of one's own. */
export type Reach = "public" | "private" | "never";

const PRIVATE: readonly (readonly [string, number])[] = [
    ["127.0.0.0", 8],
    ["10.0.0.0", 8],
    ["172.16.0.0", 12],
    ["192.168.0.0", 16],
    ["100.64.0.0", 10],
    ["::1", 128],
    ["fc00::", 7],
    ["fec0::", 10],
];
const NEVER: readonly (readonly [string, number])[] = [
    ["0.0.0.0", 8],
    ["169.254.0.0", 16],
    ["192.0.0.0", 24],
    ["192.0.2.0", 24],
    ["192.88.99.0", 24],
    ["198.18.0.0", 15],
    ["198.51.100.0", 24],
    ["203.0.113.0", 24],
    ["224.0.0.0", 4],
    ["240.0.0.0", 4],
    ["::", 128],
    ["100::", 64],
    ["2001:2::", 48],
    ["2001:db8::", 32],
    ["3fff::", 20],
    ["5f00::", 16],
    ["fe80::", 10],
    ["ff00::", 8],
    // Addresses in private networks that cloud providers give to their metadata services.
    ["100.100.100.200", 32],
    ["fd00:ec2::", 32],
];
/** IPv6 forms that carry an IPv4 address, and where its 32 bits are: 16-bit groups from the left. */
const CARRIERS: readonly { readonly net: string; readonly bits: number; readonly at: number; readonly inverted?: true }[] = [
    { net: "::ffff:0:0", bits: 96, at: 6 },
    { net: "::", bits: 96, at: 6 },
    { net: "::ffff:0:0:0", bits: 96, at: 6 },
    { net: "64:ff9b::", bits: 96, at: 6 },
    { net: "64:ff9b:1::", bits: 48, at: 6 },
    { net: "2002::", bits: 16, at: 1 },
    { net: "2001::", bits: 32, at: 6, inverted: true },
];

const lists = { private: listOf(PRIVATE), never: listOf(NEVER) };
const carriers = CARRIERS.map((carrier) => ({ ...carrier, list: listOf([[carrier.net, carrier.bits]]) }));

function listOf(nets: readonly (readonly [string, number])[]): BlockList {
    const list = new BlockList();
    for (const [net, bits] of nets) list.addSubnet(net, bits, net.includes(":") ? "ipv6" : "ipv4");
    return list;
}

/** How far away an address literal (without brackets) is. */
export function reachOf(address: string): Reach {
    const plain = address.replace(/%.*$/, "");
    const version = isIP(plain);
    if (version === 0) return "never";
    const family = version === 4 ? "ipv4" : "ipv6";
    if (version === 6 && plain !== "::1") {
        const carrier = carriers.find(({ list }) => list.check(plain, "ipv6"));
        if (carrier !== undefined) {
            const groups = groupsOf(plain);
            const [high, low] = [groups[carrier.at] ?? 0, groups[carrier.at + 1] ?? 0].map((group) =>
                carrier.inverted ? group ^ 0xffff : group,
            ) as [number, number];
            return reachOf(`${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`);
        }
    }
    if (lists.never.check(plain, family)) return "never";
    return lists.private.check(plain, family) ? "private" : "public";
}

/** The eight groups of an IPv6 literal. */
function groupsOf(address: string): number[] {
    const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address);
    const text =
        dotted === null
            ? address
            : `${dotted[1]}${((Number(dotted[2]) << 8) | Number(dotted[3])).toString(16)}:${((Number(dotted[4]) << 8) | Number(dotted[5])).toString(16)}`;
    const [left = "", right] = text.split("::");
    const parse = (part: string): number[] => (part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16)));
    const [a, b] = [parse(left), parse(right ?? "")];
    return right === undefined ? a : [...a, ...new Array<number>(Math.max(0, 8 - a.length - b.length)).fill(0), ...b];
}

/** The address a URL's host is, if it is one; names of this machine count as loopback. */
export function literalOf(hostname: string): string | null {
    const bare = hostname
        .replace(/^\[|\]$/g, "")
        .replace(/\.$/, "")
        .toLowerCase();
    if (bare === "localhost" || bare.endsWith(".localhost")) return "127.0.0.1";
    return isIP(bare) === 0 ? null : bare;
}
