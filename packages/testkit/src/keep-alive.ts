/**
 * ms for which a server of a test keeps an idle connection: longer than anybody who is tested does. Node's own
 * 5 s end connections just as a busy gateway sends on them, and a call that may have arrived is not sent again.
 */
export const keepAliveMs = 75_000;
