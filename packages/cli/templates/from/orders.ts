export const findOrder = async ({ id }: { id: string }) => ({ id, state: "delivered", paid: 19.5 });
export const refundOrder = async ({ id, amount }: { id: string; amount: number }) => ({ id, refunded: amount });
