// Opens the search over any page, and moves through what was found with the arrow keys. The search also works as a page.

const searchLink = () => document.querySelector('[data-find]')

async function openFind() {
  const link = searchLink()
  const answer = await fetch(link.href, { headers: { 'HX-Request': 'true' } })
  const form = new DOMParser().parseFromString(await answer.text(), 'text/html').getElementById('find')
  if (!answer.ok || !form) return location.assign(link.href)
  const dialog = document.getElementById('dialog')
  dialog.replaceChildren(form)
  dialog.setAttribute('aria-label', 'Search')
  dialog.classList.add('finding')
  dialog.addEventListener('close', () => dialog.classList.remove('finding'), { once: true })
  htmx.process(form)
  dialog.showModal()
  form.elements.q.focus()
}

document.addEventListener('click', (event) => {
  if (!event.target.closest('[data-find]') || event.ctrlKey || event.metaKey || event.shiftKey) return
  event.preventDefault()
  openFind()
})

document.addEventListener('keydown', (event) => {
  const { key, target } = event
  const isShortcut = key === 'k' ? event.ctrlKey || event.metaKey : key === '/' && !event.ctrlKey && !event.metaKey
  const types = target.matches('input, select, textarea, [contenteditable]')
  if (isShortcut && (key === 'k' || !types) && searchLink() && !document.querySelector('dialog[open]')) {
    event.preventDefault()
    const typed = document.getElementById('find')?.elements.q
    if (typed) typed.select()
    else openFind()
  } else if (key === 'ArrowDown' || key === 'ArrowUp') moveIn(target.closest('[data-finds]'), event)
})

// A form that finds as one types: the search, and the menu of projects. Whether what it shows is for what was typed. While someone is still typing,
// it may be for the first letters only.
const isCurrent = (form) => form.querySelector('[data-for]').dataset.for === form.elements.q.value.trim()
const foundIn = (form) => [...form.querySelectorAll('[data-for] a')]

function moveIn(form, event) {
  if (!form?.elements.q || !isCurrent(form)) return
  const stops = [form.elements.q, ...foundIn(form)]
  const next = stops[stops.indexOf(event.target) + (event.key === 'ArrowDown' ? 1 : -1)]
  if (!next) return
  event.preventDefault()
  next.focus()
}

// Enter opens the first result.
document.addEventListener('submit', (event) => {
  const form = event.target
  if (!form.matches('[data-finds]') || !isCurrent(form)) return
  const [first] = foundIn(form)
  if (!first) return
  event.preventDefault()
  location.assign(first.href)
})

// A menu with a field to type into opens with the cursor in it.
document.addEventListener(
  'toggle',
  ({ target }) => target.open && target.querySelector('[data-finds] input')?.focus(),
  true,
)
