/* The file with the catalog. Beside the document, it has a schema for editors, and the version that each project had. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { Catalog, CatalogDocument } from 'platform-api-client'
import { isSame } from './show.ts'

/** `versions`: of each project that the file was pulled from or pushed to, by its id. */
export type CatalogOnDisk = {
  path: string
  text: string
  document: CatalogDocument
  versions: Record<string, string>
}

/** @throws {Error} if the file is missing, or is not a JSON object */
export function readCatalog(path: string): CatalogOnDisk {
  const { text, value } = readObject(path)
  const { $schema: _, versions = {}, ...document } = value
  return { path, text, document: document as CatalogDocument, versions: versions as Record<string, string> }
}

type Pulled = { document: Omit<Catalog, 'version'>; version: string; project: string; schema: string; force: boolean }

/** Writes what was pulled. @throws {Error} if the file says something else, unless it is forced */
export function writeCatalog(path: string, { document, version, project, schema, force }: Pulled): void {
  const before = existsSync(path) ? readCatalog(path) : null
  const short = shortened(document)
  if (before && !force && !isSameDocument(before.document, short)) {
    throw new Error(
      `${path} differs from the catalog. Pull into another file with --from, or replace this one with --force.`,
    )
  }
  write(path, { $schema: schema, versions: { ...before?.versions, [project]: version }, ...short })
}

/** What somebody has edited by hand may not be a document at all. */
function isSameDocument(before: CatalogDocument, pulled: CatalogDocument): boolean {
  try {
    return isSame(before, pulled)
  } catch {
    return false
  }
}

/** Notes which version of a project the file has. The rest of the file stays as somebody has formatted it, where that is possible. */
export function saveVersion({ path, text, document, versions }: CatalogOnDisk, project: string, version: string): void {
  const before = versions[project]
  if (before === version) return
  if (before !== undefined && text.split(`"${before}"`).length === 2) {
    writeFileSync(path, text.replace(`"${before}"`, `"${version}"`))
    return
  }
  const { $schema } = JSON.parse(text) as { $schema?: string }
  write(path, { $schema, versions: { ...versions, [project]: version }, ...document })
}

/** The document with other prices. @throws {Error} if the map lacks one of them */
export function withPrices(document: CatalogDocument, map: ReadonlyMap<string, string>): CatalogDocument {
  const missing = new Set<string>()
  const mapped = <P extends { ref: string }>(price: P): P => {
    const ref = map.get(price?.ref)
    if (ref === undefined) missing.add(String(price?.ref))
    return { ...price, ref: ref ?? price?.ref }
  }
  const plans = Object.entries(document.plans ?? {}).map(([key, plan]) => {
    // Anything but a list is left to the API, which refuses it.
    const prices = Array.isArray(plan?.prices) ? plan.prices.map(mapped) : undefined
    return [key, { ...plan, ...(prices && { prices }) }] as const
  })
  if (missing.size > 0) throw new Error(`The map has no entry for: ${[...missing].join(', ')}`)
  return { ...document, plans: Object.fromEntries(plans) }
}

/** @throws {Error} if the file is missing, or is not a JSON object of strings */
export function readPriceMap(path: string): ReadonlyMap<string, string> {
  const entries = Object.entries(readObject(path).value)
  const wrong = entries.find(([, to]) => typeof to !== 'string')
  if (wrong) throw new Error(`${path}: ${wrong[0]} must have a string`)
  return new Map(entries as [string, string][])
}

/** A document without what it need not say. Settings are all in it, because one that is left out does not have its default. */
function shortened({ features, plans, settings }: Omit<Catalog, 'version'>): CatalogDocument {
  const short = Object.entries(plans).map(([key, { features: given, prices, state, ...plan }]) => [
    key,
    {
      ...plan,
      ...(state !== 'active' && { state }),
      features: Object.fromEntries(
        Object.entries(given).map(([name, { value, per_seat }]) => [name, { value, ...(per_seat && { per_seat }) }]),
      ),
      prices: prices.map(({ vendor, ref, lasts, again }) => ({
        ...{ vendor, ref },
        ...(lasts !== null && { lasts }),
        ...(again !== null && { again }),
      })),
    },
  ])
  return { features, plans: Object.fromEntries(short), settings }
}

function readObject(path: string): { text: string; value: Record<string, unknown> } {
  const text = readFileSync(path, 'utf8')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new Error(`${path} is not JSON: ${(error as Error).message}`)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error(`${path} must be a JSON object`)
  return { text, value: value as Record<string, unknown> }
}

function write(path: string, value: object): void {
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`)
}
