/** The promise's outcome, or a rejection with `error()` when it takes longer. */
export async function withDeadline<Value>(
  promise: Promise<Value>,
  deadlineMs: number,
  error: () => Error,
): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const expiry = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(error()), deadlineMs).unref();
  });
  try {
    return await Promise.race([promise, expiry]);
  } finally {
    clearTimeout(timer);
  }
}
