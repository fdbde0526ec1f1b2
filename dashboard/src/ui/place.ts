// The time zone and the language that a person has chosen for what is shown; the browser's where none is chosen.

interface Place {
  time_zone: string | null;
  locale: string | null;
}

type Options = Intl.DateTimeFormatOptions;

let place: Place = { time_zone: null, locale: null };
let formats = new Map<Options, Intl.DateTimeFormat>();

/** Show times and numbers as a person has chosen, from now on. */
export function showIn(chosen: Place): void {
  if (chosen.time_zone === place.time_zone && chosen.locale === place.locale) return;
  place = chosen;
  formats = new Map();
}

export function localeOf(): string | undefined {
  return place.locale ?? undefined;
}

export function zoneOf(): string {
  return place.time_zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Return a time as text; the same options are made into a format once. */
export function timeIn(options: Options, time: Date | number): string {
  let format = formats.get(options);
  if (!format) {
    format = new Intl.DateTimeFormat(localeOf(), { timeZone: zoneOf(), ...options });
    formats.set(options, format);
  }
  return format.format(time);
}
