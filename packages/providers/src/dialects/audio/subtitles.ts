export interface TranscriptSegment {
  start: number;
  end: number;
  text: string;
}

/** Subtitles in SubRip's form or in WebVTT's. */
export function subtitles(segments: readonly TranscriptSegment[], format: 'srt' | 'vtt'): string {
  const separator = format === 'srt' ? ',' : '.';
  const cues = segments.map(({ start, end, text }, index) => {
    const times = `${timestamp(start, separator)} --> ${timestamp(end, separator)}`;
    return `${format === 'srt' ? `${index + 1}\n` : ''}${times}\n${text}\n\n`;
  });
  return `${format === 'vtt' ? 'WEBVTT\n\n' : ''}${cues.join('')}`;
}

function timestamp(seconds: number, separator: string): string {
  const totalMs = Math.round(Math.max(0, seconds) * 1000);
  const two = (value: number): string => String(value).padStart(2, '0');
  const ms = String(totalMs % 1000).padStart(3, '0');
  const totalS = Math.floor(totalMs / 1000);
  const hours = Math.floor(totalS / 3600);
  return `${two(hours)}:${two(Math.floor(totalS / 60) % 60)}:${two(totalS % 60)}${separator}${ms}`;
}
