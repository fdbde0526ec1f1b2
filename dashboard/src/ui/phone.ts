// Phones as people read them: in groups. The service writes and reads them in E.164 form.

const NORTH_AMERICA = /^\+1(\d{3})(\d{3})(\d{4})$/;
const CODE = /^\+(7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|\d{3})(\d+)$/;
const PHONE = /\+\d{7,15}/g;

/** Return a phone in groups; a text that is no phone in E.164 form stays as it is. */
export function grouped(phone: string): string {
  const [, area, exchange, line] = NORTH_AMERICA.exec(phone) ?? [];
  if (area) return `+1 ${area}-${exchange}-${line}`;
  const [, code, rest = ''] = CODE.exec(phone) ?? [];
  return code ? `+${code} ${inGroups(rest)}` : phone;
}

/** Return a text whose phones are in groups, such as the label of a contact. */
export function withGrouped(text: string): string {
  return text.replace(PHONE, grouped);
}

/** Groups of three digits; the last has two to four. */
function inGroups(digits: string): string {
  if (digits.length <= 4) return digits;
  return `${digits.slice(0, 3)} ${inGroups(digits.slice(3))}`;
}
