// A file can be dropped anywhere on the page: beside its field, the browser would open it instead.
const field = document.querySelector('input[type="file"]');

document.addEventListener('dragover', (event) => {
  if (!event.dataTransfer.types.includes('Files')) return;
  event.preventDefault();
  field.classList.add('over');
});
document.addEventListener('dragleave', ({ relatedTarget }) => {
  if (relatedTarget === null) field.classList.remove('over'); // it has left the window
});
document.addEventListener('drop', (event) => {
  field.classList.remove('over');
  if (event.dataTransfer.files.length === 0) return;
  event.preventDefault();
  field.files = event.dataTransfer.files;
  field.focus();
});
