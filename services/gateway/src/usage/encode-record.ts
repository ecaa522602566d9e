import type { UsageRecord } from './usage-record.ts';

/**
 * UsageRecord to protobuf, by hand: the generated encoder walks descriptors
 * and costs several times more, once for every request. `encode-record.test.ts`
 * proves that the generated decoder reads back every field.
 */
export class RecordEncoder {
  private buffer = Buffer.allocUnsafe(16 * 1024);
  private at = 0;

  /** The bytes are only valid until the next call. */
  encode(record: UsageRecord): Buffer {
    this.at = 0;
    this.bytes(1, record.id);
    this.bytes(2, record.requestId);
    this.text(3, record.traceId);
    this.text(4, record.spanId);
    this.text(5, record.parentSpanId);
    this.text(6, record.spanName);
    this.text(7, record.replicaId);
    this.uint(8, record.sequence);
    this.uint(9, record.createdAtMs);
    this.text(10, record.organisationId);
    this.text(11, record.workspaceId);
    this.text(12, record.workspaceSlug);
    this.text(13, record.apiKeyId);
    this.text(14, record.userId);
    this.text(15, record.method);
    this.text(16, record.requestUrl);
    this.text(17, record.endpoint);
    this.bool(18, record.isProxyCall);
    this.bool(19, record.stream);
    this.text(20, record.provider);
    this.text(21, record.providerSlug);
    this.text(22, record.model);
    this.text(23, record.responseModel);
    this.text(24, record.configId);
    this.text(25, record.configSlug);
    this.text(26, record.configVersionId);
    this.text(27, record.bundleHash);
    this.text(28, record.optionPath);
    this.text(29, record.strategyMode);
    this.uint(30, record.attempt);
    this.sint(31, record.retryCount);
    this.text(32, record.cacheStatus);
    this.uint(33, record.outcome);
    this.uint(34, record.statusCode);
    this.text(35, record.errorCode);
    this.text(36, record.finishReason);
    this.uint(40, record.inputTokens);
    this.uint(41, record.outputTokens);
    this.uint(42, record.cacheReadTokens);
    this.uint(43, record.cacheWriteTokens);
    this.uint(44, record.cacheWrite1hTokens);
    this.uint(45, record.reasoningTokens);
    this.uint(46, record.inputAudioTokens);
    this.uint(47, record.outputAudioTokens);
    this.bool(48, record.usageReported);
    this.sint(49, record.costNanoUsd);
    this.sint(50, record.inputCostNanoUsd);
    this.sint(51, record.outputCostNanoUsd);
    this.bool(52, record.costKnown);
    this.text(53, record.priceBookVersion);
    this.text(54, record.priceLayer);
    this.uint(55, record.images);
    this.uint(56, record.searchUnits);
    this.uint(57, record.pages);
    this.double(58, record.audioSeconds);
    this.uint(59, record.characters);
    this.double(60, record.latencyMs);
    this.double(61, record.timeToFirstByteMs);
    this.double(62, record.gatewayMs);
    for (const key in record.metadata) this.pair(70, key, record.metadata[key] ?? '');
    this.text(71, record.decisionJson);
    return this.buffer.subarray(0, this.at);
  }

  private text(field: number, value: string): void {
    if (value === '') return;
    // UTF-8 needs at most three bytes for each UTF-16 unit.
    this.reserve(value.length * 3 + 16);
    this.varint(field * 8 + 2);
    this.lengthPrefixed(value);
  }

  /** One byte is kept for the length; longer texts are moved up once their length is known. */
  private lengthPrefixed(value: string): void {
    const start = this.at + 1;
    const length = this.buffer.write(value, start, 'utf8');
    if (length < 128) {
      this.buffer[this.at] = length;
      this.at = start + length;
      return;
    }
    const prefix = varintLength(length);
    this.buffer.copyWithin(this.at + prefix, start, start + length);
    this.varint(length);
    this.at += length;
  }

  private bytes(field: number, value: Uint8Array): void {
    if (value.length === 0) return;
    this.reserve(value.length + 16);
    this.varint(field * 8 + 2);
    this.varint(value.length);
    this.buffer.set(value, this.at);
    this.at += value.length;
  }

  private pair(field: number, key: string, value: string): void {
    const keyLength = Buffer.byteLength(key);
    const valueLength = Buffer.byteLength(value);
    this.reserve(keyLength + valueLength + 32);
    this.varint(field * 8 + 2);
    this.varint(
      1 + varintLength(keyLength) + keyLength + 1 + varintLength(valueLength) + valueLength,
    );
    this.buffer[this.at++] = 0x0a;
    this.varint(keyLength);
    this.at += this.buffer.write(key, this.at, 'utf8');
    this.buffer[this.at++] = 0x12;
    this.varint(valueLength);
    this.at += this.buffer.write(value, this.at, 'utf8');
  }

  private uint(field: number, value: number): void {
    if (value === 0) return;
    this.reserve(24);
    this.varint(field * 8);
    this.varint(value);
  }

  /** Zig-zag; values stay below 2^52, so that plain numbers suffice. */
  private sint(field: number, value: number): void {
    this.uint(field, value >= 0 ? value * 2 : -value * 2 - 1);
  }

  private bool(field: number, value: boolean): void {
    if (value) this.uint(field, 1);
  }

  private double(field: number, value: number): void {
    if (value === 0) return;
    this.reserve(24);
    this.varint(field * 8 + 1);
    this.at = this.buffer.writeDoubleLE(value, this.at);
  }

  private varint(value: number): void {
    let rest = value;
    while (rest > 0x7f) {
      this.buffer[this.at++] = (rest % 128) | 0x80;
      rest = Math.floor(rest / 128);
    }
    this.buffer[this.at++] = rest;
  }

  private reserve(bytes: number): void {
    if (this.at + bytes <= this.buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.buffer.length * 2, this.at + bytes));
    this.buffer.copy(larger, 0, 0, this.at);
    this.buffer = larger;
  }
}

function varintLength(value: number): number {
  let length = 1;
  for (let rest = value; rest > 0x7f; rest = Math.floor(rest / 128)) length++;
  return length;
}
