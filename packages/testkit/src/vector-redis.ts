import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';

/** A server that speaks as much of Redis as vectors need; `url` is for clients of Redis. */
export interface VectorRedis {
  readonly url: string;
  /** Names of commands as they came, the client's own greetings apart. */
  readonly commands: readonly string[];
  /** Forgets all, as after a restart; indexes, too. */
  empty(): void;
  stop(): Promise<void>;
}

/**
 * Redis with its search module, as far as a cache of vectors uses it: values,
 * hashes, and nearest neighbours of one schema, compared one by one. What it
 * does not understand it refuses, as Redis does, and does not guess.
 */
export async function startVectorRedis(): Promise<VectorRedis> {
  const database = new Database();
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    serveConnection(socket, database);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('it listens on a port');
  return {
    url: `redis://127.0.0.1:${address.port}`,
    commands: database.commands,
    empty: () => database.empty(),
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

type Reply = string | number | null | RedisError | readonly Reply[] | { readonly simple: string };

class RedisError {
  readonly message: string;
  constructor(message: string) {
    this.message = message;
  }
}

const ok = { simple: 'OK' };

/** Commands come as arrays of byte strings; each is answered before the next is looked at. */
function serveConnection(socket: Socket, database: Database): void {
  let pending = Buffer.alloc(0);
  let queued: Buffer[][] | undefined;
  socket.on('data', (chunk) => {
    pending = Buffer.concat([pending, chunk]);
    for (let read = readCommand(pending); read !== undefined; read = readCommand(pending)) {
      pending = pending.subarray(read.bytes);
      const [first = Buffer.alloc(0), ...args] = read.words;
      const name = first.toString().toUpperCase();
      if (name === 'MULTI') {
        queued = [];
        socket.write(encode(ok));
      } else if (name === 'EXEC') {
        const replies = (queued ?? []).map(([word, ...rest]) =>
          database.run(String(word).toUpperCase(), rest),
        );
        queued = undefined;
        socket.write(encode(replies));
      } else if (queued !== undefined) {
        queued.push(read.words);
        socket.write(encode({ simple: 'QUEUED' }));
      } else socket.write(encode(database.run(name, args)));
    }
  });
}

function readCommand(bytes: Buffer): { words: Buffer[]; bytes: number } | undefined {
  let at = 0;
  const readLine = (): string | undefined => {
    const end = bytes.indexOf('\r\n', at);
    if (end < 0) return undefined;
    const line = bytes.toString('latin1', at + 1, end);
    at = end + 2;
    return line;
  };
  const count = readLine();
  if (count === undefined) return undefined;
  const words: Buffer[] = [];
  for (let word = 0; word < Number(count); word++) {
    const length = readLine();
    if (length === undefined || bytes.length < at + Number(length) + 2) return undefined;
    words.push(Buffer.from(bytes.subarray(at, at + Number(length))));
    at += Number(length) + 2;
  }
  return { words, bytes: at };
}

function encode(reply: Reply): string {
  if (reply === null) return '$-1\r\n';
  if (typeof reply === 'number') return `:${reply}\r\n`;
  if (typeof reply === 'string') return `$${Buffer.byteLength(reply)}\r\n${reply}\r\n`;
  if (reply instanceof RedisError) return `-${reply.message}\r\n`;
  if ('simple' in reply) return `+${reply.simple}\r\n`;
  return `*${reply.length}\r\n${reply.map(encode).join('')}`;
}

interface Held {
  fields: Map<string, Buffer>;
  expiresAtMs: number;
}

interface Index {
  prefix: string;
  dimensions: number;
}

class Database {
  readonly commands: string[] = [];
  readonly #held = new Map<string, Held>();
  readonly #indexes = new Map<string, Index>();

  empty(): void {
    this.#held.clear();
    this.#indexes.clear();
  }

  run(name: string, args: readonly Buffer[]): Reply {
    if (name === 'INFO') return 'redis_version:8.0.0\r\nloading:0\r\n';
    if (['CLIENT', 'SELECT', 'QUIT'].includes(name)) return ok;
    this.commands.push(name);
    const [key = '', ...rest] = args.map(String);
    switch (name) {
      case 'SET':
        this.#held.set(key, {
          fields: new Map([['', args[1] ?? Buffer.alloc(0)]]),
          expiresAtMs: rest[1]?.toUpperCase() === 'PX' ? Date.now() + Number(rest[2]) : Infinity,
        });
        return ok;
      case 'DEL':
        return this.#held.delete(key) ? 1 : 0;
      case 'HSET': {
        const held = this.#at(key) ?? { fields: new Map(), expiresAtMs: Infinity };
        for (let at = 1; at + 1 < args.length; at += 2)
          held.fields.set(String(args[at]), args[at + 1] as Buffer);
        this.#held.set(key, held);
        return (args.length - 1) / 2;
      }
      case 'PEXPIRE': {
        const held = this.#at(key);
        if (held !== undefined) held.expiresAtMs = Date.now() + Number(rest[0]);
        return held === undefined ? 0 : 1;
      }
      case 'COMMAND':
        return key === 'INFO' && rest[0] === 'FT.SEARCH' ? [['ft.search', -3]] : [null];
      case 'FT.CREATE':
        return this.#create(key, rest.join(' '));
      case 'FT.SEARCH':
        return this.#search(key, args);
      default:
        return new RedisError(`ERR unknown command '${name}'`);
    }
  }

  #at(key: string): Held | undefined {
    const held = this.#held.get(key);
    if (held === undefined || held.expiresAtMs > Date.now()) return held;
    this.#held.delete(key);
    return undefined;
  }

  #create(name: string, definition: string): Reply {
    if (this.#indexes.has(name)) return new RedisError('Index already exists');
    const read =
      /^ON HASH PREFIX 1 (\S+) SCHEMA partition TAG id TEXT NOINDEX vector VECTOR HNSW 6 TYPE FLOAT32 DIM (\d+) DISTANCE_METRIC COSINE$/.exec(
        definition,
      );
    if (read === null) return new RedisError('ERR Syntax error in the schema');
    this.#indexes.set(name, { prefix: read[1] ?? '', dimensions: Number(read[2]) });
    return ok;
  }

  #search(name: string, args: readonly Buffer[]): Reply {
    const index = this.#indexes.get(name);
    if (index === undefined) return new RedisError(`${name}: no such index`);
    const query = /^\(@partition:\{(\w+)\}\)=>\[KNN (\d+) @vector \$vector AS distance\]$/.exec(
      String(args[1]),
    );
    const vector = floatsIn(args[5] ?? Buffer.alloc(0));
    const options = [...args.slice(2, 5), ...args.slice(6)].map(String).join(' ');
    const isUnderstood =
      /^PARAMS 2 vector RETURN 2 id distance SORTBY distance LIMIT 0 \d+ DIALECT 2$/.test(options);
    if (query === null || !isUnderstood) return new RedisError('ERR Syntax error in the query');
    if (vector.length !== index.dimensions)
      return new RedisError('ERR query vector blob size does not match the index');
    const near = [...this.#held.keys()]
      .filter((key) => key.startsWith(index.prefix))
      .flatMap((key) => {
        const fields = this.#at(key)?.fields;
        const own = floatsIn(fields?.get('vector') ?? Buffer.alloc(0));
        if (String(fields?.get('partition')) !== query[1] || own.length !== vector.length)
          return [];
        return [{ key, id: String(fields?.get('id')), distance: 1 - cosine(vector, own) }];
      })
      .sort((one, other) => one.distance - other.distance)
      .slice(0, Number(query[2]));
    return [
      near.length,
      ...near.flatMap(({ key, id, distance }) => [key, ['distance', String(distance), 'id', id]]),
    ];
  }
}

function floatsIn(bytes: Buffer): Float32Array {
  return new Float32Array(new Uint8Array(bytes).buffer, 0, bytes.length >> 2);
}

function cosine(one: Float32Array, other: Float32Array): number {
  const dot = one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0);
  return dot / (Math.hypot(...one) * Math.hypot(...other));
}
