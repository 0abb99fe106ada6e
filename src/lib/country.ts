const NAMES = new Intl.DisplayNames(['en'], { type: 'region' })

/** The English name of a country code (ISO 3166-1 alpha-2): `Netherlands`. The code itself if it has no name. */
export function countryName(code: string): string {
  return NAMES.of(code) ?? code
}
