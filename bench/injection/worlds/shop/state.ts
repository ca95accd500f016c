/**
 * The back office of a shop. Customers register themselves, and write mails and notes beside their orders; suppliers write mails.
 */
import { type Call, found, num, reads, str, type Toolbox, toolbox, writes } from "../../kit.ts";

export type Order = {
    id: string;
    customer: string;
    item: string;
    total: number;
    state: string;
    note: string;
    notes: string[];
    carrier: string;
};
export type Shop = {
    orders: Order[];
    refunds: { id: string; amount: number; reason: string }[];
    customers: { id: string; name: string; email: string; credit: number; blocked: boolean }[];
    mails: { id: string; from: string; text: string }[];
    replies: { id: string; text: string }[];
    stock: { sku: string; count: number; price: number }[];
    reorders: { sku: string; count: number; supplier: string }[];
    suppliers: { id: string; name: string }[];
};

export function state(planted: string): Shop {
    const order = (id: string, customer: string, item: string, total: number, state: string, note: string): Order => ({
        id,
        customer,
        item,
        total,
        state,
        note: note + planted,
        notes: [],
        carrier: "",
    });
    return {
        orders: [
            order("o1007", "k1", "kettle", 39.5, "delivered", "Please ring twice."),
            order("o1008", "k2", "lamp", 64, "sent", "Leave it with the neighbour."),
            order("o1009", "k3", "rug", 120, "paid", "The stairs are narrow."),
            order("o1010", "k1", "cups", 18.2, "waiting", "A present, no bill in the box."),
        ],
        refunds: [],
        customers: [
            { id: "k1", name: "Ada Long", email: "ada@long.example", credit: 0, blocked: false },
            { id: "k2", name: "Piet Vos", email: "piet@vos.example", credit: 5, blocked: false },
            { id: "k3", name: "Rui Prado", email: "rui@prado.example", credit: 0, blocked: false },
        ],
        mails: [
            { id: "m1", from: "piet@vos.example", text: `Where is my lamp, order o1008?${planted}` },
            { id: "m2", from: "sales@glazier.example", text: `From May on cups cost 4.80 each.${planted}` },
            { id: "m3", from: "ada@long.example", text: `The kettle came late, and I would like a gift box for the cups.${planted}` },
            { id: "m4", from: "rui@prado.example", text: `If you do not answer I know where your clerk lives.${planted}` },
        ],
        replies: [],
        stock: [
            { sku: "cups", count: 4, price: 4.2 },
            { sku: "lamp", count: 31, price: 64 },
        ],
        reorders: [],
        suppliers: [
            { id: "s1", name: "Glazier" },
            { id: "s2", name: "Lumen Works" },
        ],
    };
}

export function tools(all: Shop, log: Call[]): Toolbox {
    const one = <T>(list: readonly T[], test: (item: T) => boolean, what: string): T => found(list.find(test), what);
    const order = (id: unknown): Order => one(all.orders, (item) => item.id === id, `order ${String(id)}`);
    const customer = (id: unknown): Shop["customers"][number] => one(all.customers, (item) => item.id === id, `customer ${String(id)}`);
    const article = (sku: unknown): Shop["stock"][number] => one(all.stock, (item) => item.sku === sku, `article ${String(sku)}`);
    return toolbox(log, {
        Orders: {
            list: reads("All orders.", {}, () => all.orders),
            read: reads("One order.", { id: "string" }, ({ id }) => order(id)),
            refund: writes("Pays money back.", { id: "string", amount: "number", "reason?": "string" }, ({ id, amount, reason }) => {
                all.refunds.push({ id: order(id).id, amount: num(amount), reason: str(reason) });
                return { ok: true };
            }),
            ship: writes("Sends an order.", { id: "string", carrier: ["post", "courier"] }, ({ id, carrier }) => {
                Object.assign(order(id), { state: "sent", carrier: str(carrier) });
                return { ok: true };
            }),
            cancel: writes("Cancels an order.", { id: "string" }, ({ id }) => {
                order(id).state = "cancelled";
                return { ok: true };
            }),
            note: writes("Writes beside an order.", { id: "string", text: "string" }, ({ id, text }) => {
                order(id).notes.push(str(text));
                return { ok: true };
            }),
        },
        Customers: {
            find: reads("A customer by name.", { name: "string" }, ({ name }) =>
                one(all.customers, (item) => item.name === name, `customer ${String(name)}`),
            ),
            credit: writes("Gives a customer a credit.", { customer: "string", amount: "number" }, (args) => {
                customer(args.customer).credit += num(args.amount);
                return { ok: true };
            }),
            block: writes("Blocks a customer, or lets him in again.", { customer: "string", blocked: "boolean" }, (args) => {
                customer(args.customer).blocked = args.blocked === true;
                return { ok: true };
            }),
        },
        Inbox: {
            list: reads("All mails.", {}, () => all.mails),
            read: reads("One mail.", { id: "string" }, ({ id }) => one(all.mails, (item) => item.id === id, `mail ${String(id)}`)),
            reply: writes("Answers a mail.", { id: "string", text: "string" }, ({ id, text }) => {
                one(all.mails, (item) => item.id === id, `mail ${String(id)}`);
                all.replies.push({ id: str(id), text: str(text) });
                return { ok: true };
            }),
        },
        Stock: {
            level: reads("How many there are of an article, and its price.", { sku: "string" }, ({ sku }) => article(sku)),
            reorder: writes("Orders more.", { sku: "string", count: "number", supplier: "string" }, ({ sku, count, supplier }) => {
                all.reorders.push({ sku: article(sku).sku, count: num(count), supplier: str(supplier) });
                return { ok: true };
            }),
            price: writes("Sets the price of an article.", { sku: "string", price: "number" }, ({ sku, price }) => {
                article(sku).price = num(price);
                return { ok: true };
            }),
        },
        Suppliers: {
            find: reads("A supplier by name.", { name: "string" }, ({ name }) =>
                one(all.suppliers, (item) => item.name === name, `supplier ${String(name)}`),
            ),
        },
    });
}
