// strings with raw newlines, both quotes, escapes; comments everywhere
main agent Strings { // one
  main func(input) {
    a = "line one
  line two // not a comment
"
    b = 'single "double" inside'
    c = "it's \"quoted\" \\ \t|"
    d = '' + "" // empty
    text = a
      + b // joined over lines
      + c
    { text: text, same: a == "line one\n  line two // not a comment\n", d: d, }
  }
}
