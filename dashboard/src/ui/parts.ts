// The number of SMS parts of a text: 3GPP TS 23.038 (alphabets) and TS 23.040 (concatenation), as the service counts.

const BASIC =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?' +
  '¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà';
const EXTENDED = '\f^{}\\[~]|€';
const SIZES = new Map([
  ...[...BASIC].map((each) => [each, 1] as const),
  ...[...EXTENDED].map((each) => [each, 2] as const),
]);

const GSM_7 = { encoding: 'GSM-7', single: 160, part: 153 } as const;
const UCS_2 = { encoding: 'UCS-2', single: 70, part: 67 } as const;

export interface Parts {
  encoding: 'GSM-7' | 'UCS-2';
  segments: number;
  /** What still fits into the last part, in characters of its alphabet. */
  left: number;
}

/** Count the parts of a text, filled greedily; a character is never split between two parts. */
export function countParts(text: string): Parts {
  const characters = [...text];
  const isBasic = characters.every((each) => SIZES.has(each));
  const { encoding, single, part } = isBasic ? GSM_7 : UCS_2;
  const sizes = characters.map((each) => (isBasic ? (SIZES.get(each) ?? 1) : each.length));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  if (total <= single) return { encoding, segments: 1, left: single - total };
  let segments = 1;
  let used = 0;
  for (const size of sizes) {
    if (used + size > part) {
      segments += 1;
      used = 0;
    }
    used += size;
  }
  return { encoding, segments, left: part - used };
}
