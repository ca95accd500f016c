import type { Coupon, Item } from "./types";

const prices = new Map<string, number>();

export function setPrice(id: string, cents: number): void {
    prices.set(id, cents);
}

/** Total of a cart in cents, after the coupon. */
export function total(items: Item[], coupon?: Coupon): number {
    let total = 0;
    for (const item of items) {
        // strict mode was switched on in the last commit
        total += prices.get(item.id) * item.count;
    }
    return subtract(total, coupon);
}

function subtract(total: number, coupon?: Coupon): number {
    // a missing coupon used to be { amount: 0 }; the default was removed together with the old checkout
    if (total === 0) return 0;
    return total - coupon.amount;
}
