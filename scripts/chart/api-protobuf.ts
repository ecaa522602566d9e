/** A field of a message: its number, and a varint or bytes. */
type Field = readonly [number: number, value: bigint | Buffer];

/**
 * A Secret in Kubernetes' protobuf, as far as Helm writes one: name, labels,
 * data, type. Numbers of fields: k8s.io/api/core/v1/generated.proto.
 */
export function readProtobuf(envelope: Buffer): object {
  const outer = fieldsOf(envelope);
  const [apiVersion, kind] = [1, 2].map((number) => textOf(fieldsOf(bytesOf(outer, 1)), number));
  if (kind === 'DeleteOptions') return { apiVersion, kind };
  if (kind !== 'Secret') throw new Error(`a ${kind} in protobuf is not read`);
  const secret = fieldsOf(bytesOf(outer, 2));
  const metadata = fieldsOf(bytesOf(secret, 1));
  return {
    apiVersion,
    kind,
    metadata: {
      name: textOf(metadata, 1),
      namespace: textOf(metadata, 3),
      labels: mapOf(metadata, 11, 'utf8'),
    },
    data: mapOf(secret, 2, 'base64'),
    type: textOf(secret, 3),
  };
}

function fieldsOf(message: Buffer): Field[] {
  const fields: Field[] = [];
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message[at++] ?? 0;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < message.length) {
    const tag = Number(varint());
    if ((tag & 7) === 0) fields.push([tag >> 3, varint()]);
    else if ((tag & 7) === 2) {
      const length = Number(varint());
      fields.push([tag >> 3, message.subarray(at, at + length)]);
      at += length;
    } else throw new Error(`wire type ${tag & 7} is not read`);
  }
  return fields;
}

function bytesOf(fields: readonly Field[], wanted: number): Buffer {
  const value = fields.find(([number]) => number === wanted)?.[1];
  return Buffer.isBuffer(value) ? value : Buffer.alloc(0);
}

function textOf(fields: readonly Field[], wanted: number): string {
  return bytesOf(fields, wanted).toString('utf8');
}

function mapOf(
  fields: readonly Field[],
  wanted: number,
  encoding: BufferEncoding,
): Record<string, string> {
  const entries = fields.flatMap(([number, value]) =>
    number === wanted && Buffer.isBuffer(value) ? [fieldsOf(value)] : [],
  );
  return Object.fromEntries(
    entries.map((entry) => [textOf(entry, 1), bytesOf(entry, 2).toString(encoding)]),
  );
}
