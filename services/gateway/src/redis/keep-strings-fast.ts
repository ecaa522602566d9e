/** A function is compiled with what it met only when it was called some times. */
const callsNeeded = 100;

/**
 * Makes methods of strings as fast as they were before ioredis was loaded. One of
 * its classes extends `String`, which turns `String.prototype` into a dictionary
 * for all of the process: V8 then inlines no `charCodeAt`, and every loop over
 * characters takes four times as long. Looking a method up through an object
 * undoes that, since V8 keeps prototypes fast that objects are seen to use. To
 * be called after all modules are loaded.
 */
export function keepStringsFast(): void {
  const text = new String(' ');
  let sum = 0;
  for (let call = 0; call < callsNeeded; call++) sum += lookUp(text);
  if (sum !== callsNeeded * 32) throw new Error('a space is no space');
}

function lookUp(text: Pick<string, 'charCodeAt'>): number {
  return text.charCodeAt(0);
}
