/** How sure an address waits for something to be put into it and sent away. */
export function judgeAddresses(text: string): number {
  return waiting.test(text) ? 0.5 : 0;
}

/** `?d={chat history}`, `?q=[DATA]`, `/log?data=` at the end of what is said. */
const waiting =
  /https?:\/\/[^\s<>"'`]{3,300}[?&][\w-]{1,30}=(?:\{[^}\n]{2,60}\}|\[[^\]\n]{2,60}\]|<[^>\n]{2,60}>|(?=$|\s))/i;
