import type { JsonValue } from '@sluice/contracts';

/** How a picture is asked for; fields of forms are texts. */
export interface AskedPicture {
  readonly quality?: JsonValue | undefined;
  readonly size?: JsonValue | undefined;
  /** How often it is shown while it is drawn. */
  readonly partial_images?: JsonValue | undefined;
}

/** Of OpenAI's models that tell what they drew in tokens. */
export const drawsTokens = (model: string): boolean => /(?:^|\/)(?:chat)?gpt-image/.test(model);

/** What one picture comes to, by quality and size; the best and the largest where they are left open. */
export function tokensDrawn({ quality, size, partial_images: shown }: AskedPicture): number {
  const { low, medium, high } = tokensOfPicture;
  const sizes = quality === 'low' ? low : quality === 'medium' ? medium : high;
  const tokens = sizes[String(size)] ?? Math.max(...Object.values(sizes));
  const drafts = Number(shown);
  return tokens + (drafts > 0 ? Math.min(drafts, 3) * tokensOfDraft : 0);
}

/** https://platform.openai.com/docs/guides/image-generation#cost-and-latency, November 2026 */
const tokensOfPicture: Readonly<
  Record<'low' | 'medium' | 'high', Readonly<Record<string, number>>>
> = {
  low: { '1024x1024': 272, '1024x1536': 408, '1536x1024': 400 },
  medium: { '1024x1024': 1056, '1024x1536': 1584, '1536x1024': 1568 },
  high: { '1024x1024': 4160, '1024x1536': 6240, '1536x1024': 6208 },
};
const tokensOfDraft = 100;
