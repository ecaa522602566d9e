/** Most that a price of calls may be, in US cents: what ten million tokens then cost is still counted exactly. */
export const toolPriceMax = { call: 1e8, token: 10 } as const;
