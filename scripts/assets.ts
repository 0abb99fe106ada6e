/*
 * node scripts/assets.ts: puts what the console's pages load into dist/public, from src/console/assets and the packages,
 * and writes their names, each with a digest of its content, to src/console/asset-names.ts. wrangler runs it before it
 * serves or deploys, vitest before it starts; running it again changes nothing.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { ROOT } from './lib/paths.ts'

const OWN = join(ROOT, 'src/console/assets')
const PUBLIC = join(ROOT, 'dist/public')
const NAMES = join(ROOT, 'src/console/asset-names.ts')
const require = createRequire(import.meta.url)
const packaged = (name: string, file: string) => join(dirname(require.resolve(`${name}/package.json`)), file)

/** Each asset by the name the console knows it by: the file's ending, and the sources it is put together from. */
const ASSETS: Record<string, { ending: string; from: string[] }> = {
  STYLE: { ending: 'css', from: [packaged('modern-normalize', 'modern-normalize.css'), join(OWN, 'console.css')] },
  SCRIPT: { ending: 'js', from: [packaged('htmx.org', 'dist/htmx.min.js'), join(OWN, 'console.js')] },
  ICON: { ending: 'svg', from: [join(OWN, 'icon.svg')] },
  REFERENCE_STYLE: {
    ending: 'css',
    from: [packaged('swagger-ui-dist', 'swagger-ui.css'), join(OWN, 'reference.css')],
  },
  REFERENCE_SCRIPT: {
    ending: 'js',
    from: [packaged('swagger-ui-dist', 'swagger-ui-bundle.js'), join(OWN, 'reference.js')],
  },
}

/** What every asset is sent with: its name changes with its content, so it may be kept for ever. */
const HEADERS = `/assets/*
  Cache-Control: public, max-age=31536000, immutable
  X-Content-Type-Options: nosniff
  Cross-Origin-Resource-Policy: same-origin
  Content-Security-Policy: default-src 'none'
`

/** Writes every asset and the list of their names. */
export function buildAssets(): void {
  const folder = join(PUBLIC, 'assets')
  mkdirSync(folder, { recursive: true })
  const names = Object.entries(ASSETS).map(([name, { ending, from }]) => {
    const text = from.map(readSource).join('\n')
    const digest = createHash('sha256').update(text).digest('hex').slice(0, 10)
    const file = `${name.toLowerCase().replaceAll('_', '-')}-${digest}.${ending}`
    write(join(folder, file), text)
    return { name, file }
  })
  write(join(PUBLIC, '_headers'), HEADERS)
  const lines = names.map(({ name, file }) => `export const ${name} = '/assets/${file}'\n`)
  write(NAMES, `// Made by scripts/assets.ts: where each asset of the console is served.\n${lines.join('')}`)
  const current = new Set(names.map(({ file }) => file))
  for (const file of readdirSync(folder)) if (!current.has(file)) rmSync(join(folder, file), { force: true })
}

/** A source without the pointer to its source map: the maps are not served. */
function readSource(file: string): string {
  return readFileSync(file, 'utf8').replace(
    /\n?(\/\/[#@] sourceMappingURL=\S+|\/\*# sourceMappingURL=\S+ \*\/)\s*$/,
    '\n',
  )
}

/** Writes a file whole, and only where it differs: wrangler watches, and another process may be reading. */
function write(file: string, text: string): void {
  if (existsSync(file) && readFileSync(file, 'utf8') === text) return
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, text)
  renameSync(draft, file)
}

if (import.meta.main) buildAssets()
