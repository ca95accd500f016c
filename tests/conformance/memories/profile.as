import llm M from "openai://gpt-4.1-mini"
import memory Profiles from "sqlite://people.db"
main agent Concierge {
  model M
  role "a concierge"
  description "Knows what each guest likes."
  main func(input { guest: string
    said: string }) {
    known = Profiles.query({ where: { guest: input.guest }, limit: 5 })
    use input.said as said
    likes = generate({ input: "List what the guest says to like." }) -> { likes: list[string] }
    if likes.likes.length > 0 { Profiles.add({ guest: input.guest, likes: likes.likes }) }
    use known as "earlier visits"
    offer = generate({ input: "Make an offer." })
    { offer: offer, visits: known.length }
  }
}
