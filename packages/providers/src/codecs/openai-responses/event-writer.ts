import { errorText } from './errors.ts';

/** Writes the events of one stream, and counts them. */
export class EventWriter {
  #next = 0;

  /** The events before this number were another's. */
  goOnFrom(next: number): void {
    this.#next = next;
  }

  event(type: string, fields: object): string {
    const body = JSON.stringify({ type, sequence_number: this.#next++, ...fields });
    return `event: ${type}\ndata: ${body}\n\n`;
  }

  /** What is the same in all deltas of one part, so that each costs one concatenation. */
  deltaHead(type: string, fields: object): string {
    const body = JSON.stringify({ type, ...fields });
    return `event: ${type}\ndata: ${body.slice(0, -1)},"sequence_number":`;
  }

  delta(head: string, text: string, rest = ''): string {
    return `${head}${this.#next++},"delta":${JSON.stringify(text)}${rest}}\n\n`;
  }

  error(fault: Parameters<typeof errorText>[0]): string {
    return errorText(fault, this.#next++);
  }
}
