/* The search of /docs. Its index is loaded when the field gets the focus; the search itself needs no server. */
{
  const field = document.getElementById('docs-search')
  const found = document.getElementById('docs-found')
  let index
  const wordsOf = (text) => text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []
  /** How well a section fits: 0 if a word is missing; more for words in its heading and in the title of its page. */
  const rank = ([, page, heading, words], asked) => {
    const names = ` ${wordsOf(`${heading} ${page}`).join(' ')}`
    let sum = 0
    for (const word of asked) {
      if (names.includes(` ${word}`)) sum += 10
      else if (` ${words}`.includes(` ${word}`)) sum += 1
      else return 0
    }
    return sum
  }
  const item = ([address, page, heading]) => {
    const link = document.createElement('a')
    link.href = address
    link.textContent = heading === page ? page : `${page}: ${heading}`
    const entry = document.createElement('li')
    entry.append(link)
    return entry
  }
  const show = () => {
    const asked = wordsOf(field.value)
    if (!index || asked.length === 0) return found.replaceChildren()
    const fits = index.map((section) => ({ section, n: rank(section, asked) })).filter(({ n }) => n > 0)
    fits.sort((a, b) => b.n - a.n)
    found.replaceChildren(...fits.slice(0, 12).map(({ section }) => item(section)))
    if (fits.length === 0) found.append(Object.assign(document.createElement('li'), { textContent: 'Nothing found.' }))
  }
  const load = async () => {
    const answer = await fetch('/docs/search.json')
    if (!answer.ok) return
    index = await answer.json()
    show()
  }
  field.parentElement.hidden = false
  field.addEventListener('focus', load, { once: true })
  field.addEventListener('input', show)
}
