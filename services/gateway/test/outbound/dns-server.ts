import { createSocket } from 'node:dgram';
import type { AddressInfo } from 'node:net';

/** Addresses for a name; `nth` counts the questions for this name and family, from 0. */
export type Answers = (
  name: string,
  family: 4 | 6,
  nth: number,
) => readonly string[] | Promise<readonly string[]>;

export interface DnsServer {
  port: number;
  /** Names asked for so far, in order, once for each family. */
  asked: string[];
  close(): void;
}

const typeA = 1;
const typeAaaa = 28;
const headerBytes = 12;

/** A DNS server that says what the test wants it to, and may change its mind: nothing it says may be kept. */
export async function startDns(answers: Answers): Promise<DnsServer> {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  const counts = new Map<string, number>();
  socket.on('message', async (query, { port, address }) => {
    const { name, type, end } = readQuestion(query);
    const family = type === typeAaaa ? 6 : 4;
    const key = `${name} ${family}`;
    const nth = counts.get(key) ?? 0;
    counts.set(key, nth + 1);
    asked.push(name);
    const known = type === typeA || type === typeAaaa ? await answers(name, family, nth) : [];
    socket.send(reply(query.subarray(0, end), type, known), port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  const { port } = socket.address() as AddressInfo;
  return { port, asked, close: () => socket.close() };
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = headerBytes;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

/** https://www.rfc-editor.org/rfc/rfc1035#section-4.1 */
function reply(question: Buffer, type: number, addresses: readonly string[]): Buffer {
  const header = Buffer.from(question.subarray(0, headerBytes));
  header.writeUInt16BE(0x8180, 2);
  header.writeUInt16BE(addresses.length, 6);
  header.writeUInt32BE(0, 8);
  const records = addresses.map((address) => {
    const data = type === typeA ? bytes4(address) : bytes6(address);
    // A pointer to the name of the question, type, class IN, no time to live, length.
    const head = Buffer.from([0xc0, headerBytes, 0, type, 0, 1, 0, 0, 0, 0, 0, data.length]);
    return Buffer.concat([head, data]);
  });
  return Buffer.concat([header, question.subarray(headerBytes), ...records]);
}

const bytes4 = (address: string) => Buffer.from(address.split('.').map(Number));

/** Full form or with one `::`, hexadecimal only. */
function bytes6(address: string): Buffer {
  const [head = [], tail = []] = address
    .split('::')
    .map((half) => half.split(':').filter((group) => group !== ''));
  const zeros = new Array<string>(8 - head.length - tail.length).fill('0');
  return Buffer.from(
    [...head, ...zeros, ...tail].map((group) => group.padStart(4, '0')).join(''),
    'hex',
  );
}
