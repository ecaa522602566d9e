import type { ReplyUnits } from '@sluice/contracts';

/** What one call can come to, well above what any vendor allows. */
const most = {
  searchUnits: 10_000,
  pages: 20_000,
  annotatedPages: 20_000,
  audioSeconds: 7 * 86_400,
  characters: 20_000_000,
  webSearches: 1000,
  previewSearches: 1000,
  fileSearches: 1000,
  xSearches: 1000,
  attachmentSearches: 1000,
  mapSearches: 1000,
  codeExecutions: 1000,
  imageGenerations: 1000,
  images: 200,
  videoSeconds: 36_000,
  trainedTokens: 1e13,
  trainingSeconds: 90 * 86_400,
} as const satisfies Partial<Record<keyof ReplyUnits, number>>;

/** Whether a provider may have counted so. */
export function arePossible(units: ReplyUnits): boolean {
  for (const name in most) {
    const unit = name as keyof typeof most;
    const count = units[unit];
    if (count !== undefined && !(count >= 0 && count <= most[unit])) return false;
  }
  return true;
}
