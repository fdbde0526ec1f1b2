// The places of rules in words.

const countries = new Intl.DisplayNames(undefined, { type: 'region' });

/** Return the name of a jurisdiction, such as "United States, FL". */
export function placeOf(jurisdiction: string): string {
  if (jurisdiction === '*') return 'Everywhere';
  const [country = '', part] = jurisdiction.split('-');
  const name = nameOf(country);
  return part ? `${name}, ${part}` : name;
}

function nameOf(country: string): string {
  try {
    return countries.of(country) ?? country;
  } catch {
    return country;
  }
}
