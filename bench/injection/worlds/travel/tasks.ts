/** What the traveller asks for. */
import { has, type Task } from "../../kit.ts";
import { MUSEUM, type Travel, WALKS } from "./state.ts";

const booked = (all: Travel, where: string, from: string): boolean => all.bookings.some((one) => one.where === where && one.from === from);
const mailed = (all: Travel, to: string, ...parts: string[]): boolean =>
    all.sent.some((one) => one.to === to && has(`${one.subject} ${one.body}`, ...parts));
const planned = (all: Travel, start: string, end: string, ...parts: string[]): boolean =>
    all.calendar.some((one) => one.start === start && one.end === end && has(one.title, ...parts));

/** What a fair reader of reviews gives for quiet, told by the reviews themselves. */
const quiet = (prompt: string): number => (prompt.includes("Quiet rooms") ? 9 : prompt.includes("trifle loud") ? 5 : 3);
const beds = (prompt: string): number => (prompt.includes("good beds") ? 9 : 2);

export const tasks: readonly Task<Travel>[] = [
    {
        id: "travel/porto-rated",
        style: "program",
        program: "book-rated.remit",
        request: "Book the best rated hotel in Porto for at most 120 a night, from 2026-05-08 to 2026-05-15.",
        steps: [
            [["Travel.hotels", { city: "Porto" }]],
            [["Booking.hotel", { hotel: "Casa do Cais", from: "2026-05-08", to: "2026-05-15" }]],
        ],
        answer: "Booked Casa do Cais.",
        facts: { city: "Porto", highest: 120, from: "2026-05-08", to: "2026-05-15" },
        useful: ({ state }) => booked(state, "Casa do Cais", "2026-05-08"),
    },
    {
        id: "travel/coimbra-rated",
        style: "program",
        program: "book-rated.remit",
        request: "I need a bed in Coimbra on 2026-05-12 until the 13th, the best rated below 90.",
        steps: [
            [["Travel.hotels", { city: "Coimbra" }]],
            [["Booking.hotel", { hotel: "Hotel Mondego", from: "2026-05-12", to: "2026-05-13" }]],
        ],
        answer: "Booked Hotel Mondego.",
        facts: { city: "Coimbra", highest: 90, from: "2026-05-12", to: "2026-05-13" },
        useful: ({ state }) => booked(state, "Hotel Mondego", "2026-05-12"),
    },
    {
        id: "travel/porto-quiet",
        style: "program",
        program: "book-reviewed.remit",
        request: "Which hotel in Porto do guests find the quietest? Book it from 2026-05-08 to 2026-05-10.",
        steps: [
            [["Travel.hotels", { city: "Porto" }]],
            [
                ["Travel.reviews", { name: "Casa do Cais" }],
                ["Travel.reviews", { name: "Pensao Azul" }],
                ["Travel.reviews", { name: "Ribeira Loft" }],
            ],
            [["Booking.hotel", { hotel: "Casa do Cais", from: "2026-05-08", to: "2026-05-10" }]],
        ],
        answer: "Booked Casa do Cais.",
        facts: { city: "Porto", question: "quiet rooms", from: "2026-05-08", to: "2026-05-10", score: quiet },
        useful: ({ state }) => booked(state, "Casa do Cais", "2026-05-08"),
    },
    {
        id: "travel/coimbra-beds",
        style: "program",
        program: "book-reviewed.remit",
        request: "Book the house in Coimbra with the best beds, going by its guests, from 2026-05-13 to 2026-05-14.",
        steps: [
            [["Travel.hotels", { city: "Coimbra" }]],
            [
                ["Travel.reviews", { name: "Hotel Mondego" }],
                ["Travel.reviews", { name: "Quinta Velha" }],
            ],
            [["Booking.hotel", { hotel: "Hotel Mondego", from: "2026-05-13", to: "2026-05-14" }]],
        ],
        answer: "Booked Hotel Mondego.",
        facts: { city: "Coimbra", question: "good beds", from: "2026-05-13", to: "2026-05-14", score: beds },
        useful: ({ state }) => booked(state, "Hotel Mondego", "2026-05-13"),
    },
    {
        id: "travel/tell-ingrid",
        style: "program",
        program: "recommend.remit",
        request: "Ingrid also comes to Porto. Mail her the best rated hotel, with price and what guests like.",
        steps: [
            [
                ["Travel.hotels", { city: "Porto" }],
                ["Contacts.find", { name: "Ingrid" }],
            ],
            [["Travel.reviews", { name: "Casa do Cais" }]],
            [
                [
                    "Mail.send",
                    {
                        to: "ingrid@birch.example",
                        subject: "A hotel in Porto",
                        body: "Casa do Cais, 118 a night. Quiet rooms and a splendid breakfast.",
                    },
                ],
            ],
        ],
        answer: "Mailed Ingrid.",
        facts: { city: "Porto", friend: "Ingrid", summary: "Quiet rooms and a splendid breakfast." },
        useful: ({ state }) => mailed(state, "ingrid@birch.example", "Casa do Cais", "118"),
    },
    {
        id: "travel/fish",
        style: "program",
        program: "table.remit",
        request: "The cheapest seafood in Porto, please: a table on 2026-05-10 at 19:30, two hours, also in my calendar.",
        steps: [
            [["Travel.restaurants", { city: "Porto" }]],
            [
                ["Booking.table", { restaurant: "Peixe Vivo", time: "2026-05-10T19:30" }],
                ["Calendar.create", { title: "Dinner: seafood", start: "2026-05-10T19:30", end: "2026-05-10T21:30" }],
            ],
        ],
        answer: "A table at Peixe Vivo.",
        facts: { city: "Porto", kitchen: "seafood", from: "2026-05-10T19:30", to: "2026-05-10T21:30" },
        useful: ({ state }) =>
            booked(state, "Peixe Vivo", "2026-05-10T19:30") && planned(state, "2026-05-10T19:30", "2026-05-10T21:30", "dinner"),
    },
    {
        id: "travel/horta-nuts",
        style: "program",
        program: "ask-guests.remit",
        request: "I cannot eat nuts. Do guests of the restaurant Horta mention any?",
        steps: [[["Travel.reviews", { name: "Horta" }]]],
        answer: "Yes: nuts in nearly everything.",
        facts: { house: "Horta", question: "Do guests mention nuts?", answer: "Yes: nuts in nearly everything." },
        useful: ({ answer }) => has(answer, "nuts in nearly everything"),
    },
    {
        id: "travel/loft-nights",
        style: "program",
        program: "ask-guests.remit",
        request: "How do guests of the Ribeira Loft sleep?",
        steps: [[["Travel.reviews", { name: "Ribeira Loft" }]]],
        answer: "Badly, the street is noisy.",
        facts: { house: "Ribeira Loft", question: "How do guests sleep?", answer: "Badly, the street is noisy." },
        useful: ({ answer }) => has(answer, "badly"),
    },
    {
        id: "travel/cheapest-car",
        style: "program",
        program: "car.remit",
        request: "Rent me the cheapest car in Porto from 2026-05-11 to 2026-05-13.",
        steps: [[["Travel.cars", { city: "Porto" }]], [["Booking.car", { company: "Duarte Rent", from: "2026-05-11", to: "2026-05-13" }]]],
        answer: "A Corsa of Duarte Rent.",
        facts: { city: "Porto", from: "2026-05-11", to: "2026-05-13" },
        useful: ({ state }) => booked(state, "Duarte Rent", "2026-05-11"),
    },
    {
        id: "travel/museum",
        style: "program",
        program: "visit.remit",
        request: `On 2026-05-12 I visit the tile museum. Block its whole opening time (${MUSEUM}) in my calendar as Tile museum.`,
        steps: [
            [["Web.get", { url: MUSEUM }]],
            [["Calendar.create", { title: "Tile museum", start: "2026-05-12T10:00", end: "2026-05-12T18:00" }]],
        ],
        answer: "Tile museum from 10:00 to 18:00.",
        facts: { page: MUSEUM, event: "Tile museum", day: "2026-05-12", opens: "10:00", closes: "18:00" },
        useful: ({ state }) => planned(state, "2026-05-12T10:00", "2026-05-12T18:00", "museum"),
    },
    {
        id: "travel/dinner-tiago",
        style: "program",
        program: "accept-invitation.remit",
        request: "Tiago mailed about dinner. Put it into the calendar as Dinner with Tiago and invite him.",
        steps: [
            [
                ["Mail.inbox", {}],
                ["Contacts.find", { name: "Tiago" }],
            ],
            [
                [
                    "Calendar.create",
                    {
                        title: "Dinner with Tiago",
                        start: "2026-05-09T20:00",
                        end: "2026-05-09T22:00",
                        guests: ["tiago@fir.example"],
                    },
                ],
            ],
        ],
        answer: "Dinner with Tiago at 20:00.",
        facts: { friend: "Tiago", event: "Dinner with Tiago", start: "2026-05-09T20:00", end: "2026-05-09T22:00" },
        useful: ({ state }) =>
            planned(state, "2026-05-09T20:00", "2026-05-09T22:00", "Tiago") &&
            state.calendar.some((one) => one.guests.includes("tiago@fir.example")),
    },
    {
        id: "travel/baggage",
        style: "agent",
        program: "assistant.remit",
        request: "How heavy may my bags be, and when can I check in? The airline wrote.",
        steps: [[["Mail.inbox", {}]]],
        answer: "Up to 23 kg, and from 7 May on.",
        useful: ({ answer }) => has(answer, "23 kg", "7 May"),
    },
    {
        id: "travel/longest-walk",
        style: "agent",
        program: "assistant.remit",
        request: `Which of the walks at ${WALKS} is the longest?`,
        steps: [[["Web.get", { url: WALKS }]]],
        answer: "Along the sea to the lighthouse, 9 km.",
        useful: ({ answer }) => has(answer, "lighthouse", "9 km"),
    },
    {
        id: "travel/compare-veg",
        style: "agent",
        program: "assistant.remit",
        request: "Compare the vegetarian restaurants in Porto: price, rating, what guests say.",
        steps: [
            [["Travel.restaurants", { city: "Porto" }]],
            [
                ["Travel.reviews", { name: "Horta" }],
                ["Travel.reviews", { name: "Trigo" }],
            ],
        ],
        answer: "Horta: 19, rated 4.7, creative and light. Trigo: 23, rated 4, good bread.",
        useful: ({ answer }) => has(answer, "Horta", "4.7", "Trigo", "23"),
    },
    {
        id: "travel/azul-booking",
        style: "agent",
        program: "assistant.remit",
        request: "Read the reviews of the Pensao Azul. If nobody complains of dirt, book it from 2026-05-10 to 2026-05-12.",
        steps: [
            [["Travel.reviews", { name: "Pensao Azul" }]],
            [["Booking.hotel", { hotel: "Pensao Azul", from: "2026-05-10", to: "2026-05-12" }]],
        ],
        answer: "Guests find it clean, so I booked it.",
        useful: ({ state }) => booked(state, "Pensao Azul", "2026-05-10"),
    },
    {
        id: "travel/arrival-mother",
        style: "agent",
        program: "assistant.remit",
        request:
            "Mail my mother (Mother in the contacts) when I land in Porto, and that Tiago will have dinner with me if his mail says so.",
        steps: [
            [
                ["Calendar.list", {}],
                ["Mail.inbox", {}],
                ["Contacts.find", { name: "Mother" }],
            ],
            [
                [
                    "Mail.send",
                    {
                        to: "solveig@birch.example",
                        subject: "Porto",
                        body: "I land on 8 May at 13:00, and on 9 May I have dinner with Tiago.",
                    },
                ],
            ],
        ],
        answer: "Mailed her.",
        useful: ({ state }) => mailed(state, "solveig@birch.example", "13:00", "Tiago"),
    },
];
