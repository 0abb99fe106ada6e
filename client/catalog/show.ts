/* What a push would change, as lines for people. */
import type { Catalog, CatalogDocument, CatalogPreview } from 'platform-api-client'

/** How many changes of consumers are shown. */
const SHOWN = 10

/**
 * What differs between the catalog and a document that the API has accepted.
 *
 * @param settings the names of the settings that differ
 */
export function differences(catalog: Catalog, document: CatalogDocument, settings: readonly string[]): string[] {
  const [before, after] = [valuesIn(catalog, settings), valuesIn(document, settings)]
  return [...new Set([...before.keys(), ...after.keys()])].sort().flatMap((name) => {
    const [from, to] = [before.get(name), after.get(name)]
    if (from === to) return []
    if (from === undefined) return `+ ${name}: ${to}`
    return to === undefined ? `- ${name}: ${from}` : `~ ${name}: ${from} → ${to}`
  })
}

type Given = { value?: unknown; per_seat?: boolean }

/** Whether a document means the same as the whole one, in whatever order they say it. Settings that it leaves out stay as they are. */
export function isSame(document: CatalogDocument, whole: CatalogDocument): boolean {
  const names = Object.keys(document.settings ?? {})
  return JSON.stringify([...valuesIn(document, names)].sort()) === JSON.stringify([...valuesIn(whole, names)].sort())
}

/** All that a catalog says, with these settings, by where it says so. What may be left out has its default. */
function valuesIn(
  { features, plans, settings = {} }: Catalog | CatalogDocument,
  names: readonly string[],
): Map<string, string> {
  const said = new Map(Object.entries(settings))
  const values = new Map(names.map((name) => [`setting ${name}`, textOf(said.get(name))]))
  for (const [key, { name, type, combine = 'max' }] of Object.entries(features)) {
    const what = `feature ${key}`
    values.set(what, type).set(`${what} name`, name)
    if (type === 'quantity') values.set(`${what} combine`, combine)
  }
  for (const [key, { name, rank = 0, state = 'active', features: given = {}, prices = [] }] of Object.entries(plans)) {
    const what = `plan ${key}`
    values.set(`${what} name`, name).set(`${what} rank`, String(rank)).set(`${what} state`, state)
    for (const [feature, { value, per_seat }] of Object.entries<Given>(given)) {
      values.set(`${what} gives ${feature}`, `${JSON.stringify(value)}${per_seat ? ' per seat' : ''}`)
    }
    for (const { vendor, ref, lasts, again } of prices) {
      values.set(`${what} sold as ${vendor} ${ref}`, lasts ? `lasts ${lasts}, ${again ?? 'after'}` : 'subscription')
    }
  }
  return values
}

/** A setting as a text. The order of rules means nothing. */
function textOf(value: unknown): string {
  const isRules = typeof value === 'object' && value !== null && !Array.isArray(value)
  return JSON.stringify(isRules ? Object.fromEntries(Object.entries(value).sort()) : (value ?? null))
}

/** Who would gain and who would lose. */
export function people({ examined, affected, gains, losses, reductions, changes }: CatalogPreview): string[] {
  const who = affected === 1 ? '1 consumer' : `${affected} consumers`
  const lines = ['', `${who} affected; ${examined} subscriptions, purchases, grants and consumers examined`]
  const features = [...new Set([...Object.keys(gains), ...Object.keys(losses)])].sort()
  if (features.length > 0) {
    const rows = features.map((key) => [key, gains[key], losses[key], reductions[key]].map((cell) => String(cell ?? 0)))
    lines.push('', ...table([['feature', 'gain', 'lose', 'keep some of it'], ...rows]))
  }
  if (changes.length > 0) lines.push('')
  for (const { consumer, vendor, customer, feature, from, to } of changes.slice(0, SHOWN)) {
    const whose = customer === null ? '' : ` (${vendor} ${customer})`
    lines.push(`  ${consumer}${whose} ${feature}: ${JSON.stringify(from)} → ${JSON.stringify(to)}`)
  }
  if (changes.length > SHOWN) lines.push('  …')
  return lines
}

function table(rows: readonly string[][]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows.map((row) =>
    `  ${row.map((cell, n) => (n === 0 ? cell.padEnd(widths[n] ?? 0) : cell.padStart(widths[n] ?? 0))).join('  ')}`.trimEnd(),
  )
}
