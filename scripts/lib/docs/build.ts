/* The files of /docs: a page for each Markdown file, the file itself, /llms.txt, and the index of the search. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../paths.ts'
import { type Doc, layOut, listDocs, type Part } from './pages.ts'
import { type Look, pageOf, twinOf, twinTextOf } from './render.ts'

/** All files by their path in the folder of the assets. */
export function docsFiles(look: Look): Map<string, string | Buffer> {
  const docs = listDocs()
  const { parts, addresses } = layOut(docs)
  const files = new Map<string, string | Buffer>()
  for (const part of parts) {
    const file = part.path === '/docs' ? 'docs/index.html' : `${part.path.slice(1)}.html`
    files.set(file, pageOf(part, { docs, parts, addresses, look }))
  }
  for (const doc of docs) files.set(twinOf(doc).slice(1), twinTextOf(doc, docs))
  files.set('llms.txt', llms(docs))
  files.set('docs/search.json', JSON.stringify(parts.flatMap(searchable)))
  for (const file of ['operate/alerts.yml', 'operate/grafana.json', ...pictures()])
    files.set(`docs/${file}`, readFileSync(join(ROOT, 'docs', file)))
  return files
}

function pictures(): string[] {
  return readdirSync(join(ROOT, 'docs/pictures')).map((name) => `pictures/${name}`)
}

/** https://llmstxt.org */
function llms(docs: Doc[]): string {
  const groups = [...new Set(docs.map(({ group }) => group))].filter((group) => group !== '')
  const sections = groups.map((group) => {
    const lines = docs
      .filter((doc) => doc.group === group)
      .map((doc) => `- [${doc.title}](${twinOf(doc)}): ${doc.phrase}`)
    return `## ${group}\n\n${lines.join('\n')}\n`
  })
  const what =
    'A server-to-server API for teams that sell software: API keys of a project, an inbox for billing webhooks, billing state, consumers, devices, single sign-on and entitlements.'
  return `# Platform API\n\n> ${what}\n\nThe OpenAPI document is at /openapi.json, the list of error codes at /errors. Every page below is Markdown.\n\n${sections.join('\n')}`
}

/** For the search: the address, title and heading of each section, and its words, each once. */
function searchable({ doc, path, sections }: Part): [string, string, string, string][] {
  return sections.map(({ title, anchor, html }) => {
    const text = html.replace(/<[^>]+>/g, ' ').toLowerCase()
    const words = new Set(text.match(/[\p{L}\p{N}_]{2,}/gu) ?? [])
    return [`${path}#${anchor}`, doc.title, title.replace(/[`*]/g, ''), [...words].join(' ')]
  })
}
