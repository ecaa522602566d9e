import type { ChatPart } from '@sluice/contracts';

/** How a part that could not be carried is named in `dropped`. */
export function partName(part: ChatPart): string {
  if (part.type === 'foreign') return String(part.value.type ?? 'part');
  return part.type.replaceAll('-', '_');
}
