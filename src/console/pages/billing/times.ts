/** A vendor's time in ms; null for none, and for one that cannot be read. */
export function timeOf(iso: string | null): number | null {
  const at = iso === null ? Number.NaN : Date.parse(iso)
  return Number.isNaN(at) ? null : at
}
