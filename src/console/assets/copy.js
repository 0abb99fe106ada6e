// Beside each id, an icon that copies it. Without this script, an id is plain text.

function addCopyIcons() {
  for (const id of document.querySelectorAll('.id:not([data-copied-by])')) {
    const link = id.closest('a')
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'copy'
    button.dataset.icon = 'document-duplicate'
    button.ariaLabel = `Copy ${id.textContent}`
    // In a list, Tab goes from row to row. The page of the row has its id again.
    if (link && id.closest('td')) button.tabIndex = -1
    id.dataset.copiedBy = ''
    const place = link ?? id
    place.after(button)
    button.addEventListener('click', () => copyId(id, button))
  }
}

async function copyId(id, button) {
  try {
    await navigator.clipboard.writeText(id.textContent)
    button.dataset.icon = 'check'
    say('Copied')
    setTimeout(() => {
      button.dataset.icon = 'document-duplicate'
    }, 2000)
  } catch {
    getSelection().selectAllChildren(id)
    say(PRESS_COPY)
  }
}

addCopyIcons()
document.addEventListener('htmx:afterSettle', addCopyIcons)
