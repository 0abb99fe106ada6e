/** A timestamp in milliseconds; null if it is missing or invalid. */
export function timeOf(iso: string | null): number | null {
  const at = iso === null ? Number.NaN : Date.parse(iso)
  return Number.isNaN(at) ? null : at
}
