const MOST = 8000000;
const asText = (file) => new Promise((done, failed) => {
  const reader = new FileReader();
  reader.onload = () => done(reader.result);
  reader.onerror = () => failed(reader.error);
  reader.readAsDataURL(file);
});

export default function ({ data, parentElement, setStateValue }) {
  const find = (name) => parentElement.querySelector(name);
  const well = find(".well"), input = find("input"), image = find("img"), hint = find(".hint"), clear = find(".clear");
  parentElement.memedex?.();

  const show = (picture, wrong) => {
    image.hidden = clear.hidden = !picture;
    if (picture) image.src = picture.data; else image.removeAttribute("src");
    hint.textContent = wrong || (picture ? picture.name : "Drop or paste a picture");
    hint.classList.toggle("wrong", Boolean(wrong));
  };
  const take = async (file) => {
    if (!file) return;
    if (!file.type.startsWith("image/")) return show(null, "That is not a picture");
    if (file.size > MOST) return show(null, "Pictures up to 8 MB, please");
    const picture = { name: file.name || "pasted picture", data: await asText(file) };
    show(picture);
    setStateValue("picture", picture);
  };
  const first = (transfer) => [...(transfer?.files ?? [])].find((file) => file.type.startsWith("image/")) ?? transfer?.files?.[0];
  const pasted = (event) => {
    const file = first(event.clipboardData);
    if (file) { event.preventDefault(); take(file); }
  };

  input.onchange = () => { take(input.files[0]); input.value = ""; };
  well.onkeydown = (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); input.click(); } };
  well.ondragover = (event) => { event.preventDefault(); well.classList.add("over"); };
  well.ondragleave = () => well.classList.remove("over");
  well.ondrop = (event) => { event.preventDefault(); well.classList.remove("over"); take(first(event.dataTransfer)); };
  clear.onclick = (event) => { event.preventDefault(); event.stopPropagation(); show(null); setStateValue("picture", null); };
  document.addEventListener("paste", pasted);
  parentElement.memedex = () => document.removeEventListener("paste", pasted);
  show(data.picture ?? null);
  return parentElement.memedex;
}
