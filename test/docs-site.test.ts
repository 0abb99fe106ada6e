import { describe, expect, it } from 'vitest'
import rules from '../dist/public/_headers?raw'
import llms from '../dist/public/llms.txt?raw'
import { PAGE_HEADERS } from '../src/console/headers'
import { OTHER_DOCS, SECTION_DOCS } from '../src/console/ui/frame/docs'

const FILES = import.meta.glob<string>('../dist/public/docs/**/*.{html,md}', {
  query: '?raw',
  import: 'default',
  eager: true,
})
const MAX_HTML = 60_000
const filesOf = (ending: string) =>
  Object.entries(FILES)
    .filter(([file]) => file.endsWith(ending))
    .map(([file, text]) => ({
      path: file.slice('../dist/public'.length, -ending.length).replace('/docs/index', '/docs'),
      text,
    }))
const PAGES = filesOf('.html')
const TWINS = filesOf('.md').map(({ path }) => (path === '/docs' ? '/docs/index.md' : `${path}.md`))
/** What is served beside the pages. The console and the index of errors are the Worker's. */
const BESIDE = /^\/(console|console\/reference|errors|openapi\.json|docs\/(operate|pictures)\/[\w-]+\.(yml|json|png))$/

describe('/docs', () => {
  it('has pages of less than 60 KB, each with its Markdown beside it', () => {
    expect(PAGES.length).toBeGreaterThan(40)
    expect(
      PAGES.filter(({ text }) => new TextEncoder().encode(text).length >= MAX_HTML).map(({ path }) => path),
    ).toEqual([])
    const twin = (text: string) => /rel="alternate" type="text\/markdown" href="([^"]+)"/.exec(text)?.[1] ?? ''
    expect(PAGES.filter(({ text }) => !TWINS.includes(twin(text))).map(({ path }) => path)).toEqual([])
  })

  it('links only to pages and headings that are there', () => {
    const idsOf = new Map(
      PAGES.map(({ path, text }) => [path, [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)]),
    )
    const dead = PAGES.flatMap(({ path, text }) =>
      [...text.matchAll(/<a [^>]*?href="([^"]*)"/g)].flatMap(([, href = '']) => {
        if (/^(https?|mailto):/.test(href) || BESIDE.test(href) || TWINS.includes(href)) return []
        const [page, id] = href.split('#')
        const ids = idsOf.get(page === '' ? path : `${page}`)
        return ids && (id === undefined || ids.includes(id)) ? [] : [`${path}: ${href}`]
      }),
    )
    expect(dead).toEqual([])
  })

  it('has what the sections of the console and its search link to', () => {
    const links = [...Object.values(SECTION_DOCS), ...OTHER_DOCS.map(([, to]) => to)]
    const lacking = links.filter((link) => {
      const [path, id] = link.split('#')
      const page = PAGES.find((one) => one.path === path)
      return !page || (id !== undefined && !page.text.includes(` id="${id}"`))
    })
    expect(lacking).toEqual([])
  })

  it('has ids that are unique, and no script or style in its pages', () => {
    for (const { path, text } of PAGES) {
      const ids = [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)
      expect([path, ids.filter((id, i) => ids.indexOf(id) !== i)]).toEqual([path, []])
      expect([path, /<script(?! src=)|<style| style=| on\w+="/.test(text.replace(/<pre.*?<\/pre>/gs, ''))]).toEqual([
        path,
        false,
      ])
    }
  })

  it('has all pages in llms.txt', () => {
    expect(llms).toMatch(/^# .+\n\n> .+\n/)
    const listed = [...llms.matchAll(/^- \[[^\]]+\]\(([^)]+)\): .+$/gm)].map(([, path]) => path)
    expect(listed.toSorted()).toEqual(TWINS.filter((path) => path !== '/docs/index.md').toSorted())
  })

  it('has the headers of a page of the console, except that it may be kept', () => {
    for (const path of ['/docs', '/docs/*', '/llms.txt']) {
      const [, rule = ''] = rules.split(`\n${path}\n`)
      const lines = rule.split('\n').filter((_, i, all) => all.slice(0, i + 1).every((line) => line.startsWith('  ')))
      const headers = Object.fromEntries(Object.entries(PAGE_HEADERS).filter(([name]) => name !== 'Cache-Control'))
      expect(Object.fromEntries(lines.map((line) => line.trim().split(/: (.*)/)))).toMatchObject({
        ...headers,
        'X-Content-Type-Options': 'nosniff',
        'Strict-Transport-Security': 'max-age=31536000',
      })
    }
  })
})
